import type { Overview } from '@undolog/client';
import { usePreferences } from '../shell/preferences';
import { writeMoment } from '../parts/moment';
import { Columns } from './columns';

const ENDS = ['completed', 'compensated', 'halted'] as const;

/** How sessions ended, step by step. */
export function SessionsChart({ buckets, hours }: Pick<Overview, 'buckets' | 'hours'>) {
  const { zone } = usePreferences();
  const label = (at: string): string => {
    const [day, time] = writeMoment(at, zone).split(' ');
    return hours > 24 ? `${day!.slice(5)} ${time!.slice(0, 5)}` : time!.slice(0, 5);
  };
  const columns = buckets.map((bucket) => ({
    label: label(bucket.at),
    parts: { compensated: bucket.compensated, halted: bucket.halted, completed: bucket.completed },
  }));
  const total = (name: (typeof ENDS)[number] | 'opened'): number => buckets.reduce((sum, one) => sum + one[name], 0);
  const said = ENDS.map((name) => `${total(name)} ${name}`).join(', ');
  return (
    <>
      <Columns columns={columns} words={`In this time ${total('opened')} sessions were opened: ${said}.`} />
      <ul className="legend">
        {ENDS.map((name) => (
          <li key={name} className={name}>
            {total(name).toLocaleString()} {name}
          </li>
        ))}
        <li>{total('opened').toLocaleString()} opened</li>
      </ul>
    </>
  );
}
