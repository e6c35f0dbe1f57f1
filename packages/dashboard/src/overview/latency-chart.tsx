import type { Overview } from '@undolog/client';
import { writeMilliseconds } from '../parts/moment';
import { Columns } from './columns';

type Unwind = Overview['unwind'];

const orNone = (ms: number | null): string => (ms === null ? '—' : writeMilliseconds(ms));

export function LatencyChart({ unwind }: { readonly unwind: Unwind }) {
  const { count, histogram, p50_ms: p50, p95_ms: p95, p99_ms: p99 } = unwind;
  if (count === 0) return <p className="hint">Nothing was undone in this time.</p>;
  const columns = histogram.map(({ up_to_ms: upTo, count: compensated }) => ({
    label: upTo === null ? 'more' : `≤ ${writeMilliseconds(upTo)}`,
    parts: { compensated },
  }));
  const percentiles = `half within ${orNone(p50)}, 95 % within ${orNone(p95)}, 99 % within ${orNone(p99)}`;
  return (
    <>
      <Columns columns={columns} words={`${count} sessions were undone: ${percentiles}.`} />
      <p className="hint">{percentiles}</p>
    </>
  );
}
