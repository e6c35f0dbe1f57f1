import type { Attempt } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { Moment, writeMilliseconds } from '../parts/moment';

/** So many are shown at once; the first ones of a long history are folded away. */
const SHOWN = 6;

function answerOf({ status, error }: Attempt): string {
  if (status !== null) return error === null ? `HTTP ${status}` : `HTTP ${status}: ${visible(error)}`;
  return error === null ? 'no answer yet' : visible(error);
}

function AttemptLine({ attempt, number }: { readonly attempt: Attempt; readonly number: number }) {
  const { at, outcome, duration_ms: ms } = attempt;
  return (
    <li value={number} className={outcome ?? 'running'}>
      <span className="word">{outcome ?? 'under way'}</span> <span>{answerOf(attempt)}</span>{' '}
      <span className="hint">
        <Moment at={at} />
        {ms !== null && <> · {writeMilliseconds(ms)}</>}
      </span>
    </li>
  );
}

function AttemptLines({ attempts, first }: { readonly attempts: readonly Attempt[]; readonly first: number }) {
  return (
    <ol className="attempts" aria-label="Tries" start={first}>
      {attempts.map((attempt, index) => (
        <AttemptLine key={attempt.at} attempt={attempt} number={first + index} />
      ))}
    </ol>
  );
}

/** Every call of an undo: when, what was answered, how long it took. */
export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return null;
  const folded = attempts.length > SHOWN ? attempts.length - SHOWN : 0;
  return (
    <>
      {folded > 0 && (
        <details>
          <summary>{folded} earlier tries</summary>
          <AttemptLines attempts={attempts.slice(0, folded)} first={1} />
        </details>
      )}
      <AttemptLines attempts={attempts.slice(folded)} first={folded + 1} />
    </>
  );
}
