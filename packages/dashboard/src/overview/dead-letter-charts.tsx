import { Link } from 'wouter';
import type { Overview } from '@undolog/client';
import { explain } from '@undolog/client/explain';
import { visible } from '@undolog/client/visible-text';
import { writeDuration } from '../parts/moment';
import { Columns } from './columns';

interface LettersProps {
  readonly letters: Overview['dead_letters'];
}

const NOTHING = <p className="hint">Nothing waits for a person.</p>;

export function AgesChart({ letters: { open, by_age: ages } }: LettersProps) {
  if (open === 0) return NOTHING;
  const columns = ages.map(({ up_to_seconds: upTo, count: halted }) => ({
    label: upTo === null ? 'older' : `≤ ${writeDuration(upTo)}`,
    parts: { halted },
  }));
  const words = columns.map(({ label, parts }) => `${parts.halted} ${label}`);
  return <Columns columns={columns} words={`${open} wait: ${words.join(', ')}.`} />;
}

/** Bars that lead to the letters that they count. */
export function CodesChart({ letters: { open, by_code: codes } }: LettersProps) {
  if (open === 0) return NOTHING;
  const most = Math.max(...codes.map(({ count }) => count), 1);
  return (
    <ul className="codes">
      {codes.map(({ code, count }) => (
        <li key={code} title={explain(code)}>
          <Link href={`/dead-letters?code=${encodeURIComponent(code)}`}>{visible(code)}</Link>
          <span>
            <span className="filled" style={{ width: `${(count / most) * 100}%` }} />
          </span>
          <span>{count}</span>
        </li>
      ))}
    </ul>
  );
}
