import type { UseMutationResult } from '@tanstack/react-query';
import type { DrainProgress } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { Dialog } from '../parts/dialog';
import { reasonOf } from '../parts/failure';

interface DrainMeterProps {
  readonly action: string;
  readonly progress: DrainProgress;
  readonly work: Pick<UseMutationResult, 'isPending' | 'error'>;
  readonly stop: () => void;
  readonly close: () => void;
}

function countByCode(refused: DrainProgress['refused']): [string, number][] {
  const counts = new Map<string, number>();
  for (const { code } of refused) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts];
}

/** How far a bulk action has come, and what it left as it was. */
export function DrainMeter({ action, progress, work, stop, close }: DrainMeterProps) {
  const { matched, applied, refused } = progress;
  return (
    <Dialog title={`${action} ${matched} dead letters`} close={close}>
      <progress value={applied + refused.length} max={Math.max(matched, 1)} aria-label="Done so far" />
      <p role="status">
        {applied} of {matched} done{work.isPending ? '…' : '.'}
      </p>
      {countByCode(refused).map(([code, count]) => (
        <p key={code} className="cause">
          {count} left as they were: <code>{visible(code)}</code>
        </p>
      ))}
      <p role="alert" className="fault">
        {work.error && reasonOf(work.error)}
      </p>
      <footer>
        {work.isPending ? (
          <button type="button" onClick={stop}>
            Stop after this request
          </button>
        ) : (
          <button type="button" className="primary" onClick={close}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  );
}
