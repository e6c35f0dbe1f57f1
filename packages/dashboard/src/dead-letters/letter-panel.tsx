import { Link } from 'wouter';
import type { DeadLetter } from '@undolog/client';
import { explain } from '@undolog/client/explain';
import { visible } from '@undolog/client/visible-text';
import { JsonView, Words } from '../parts/json-view';
import { Age, Moment } from '../parts/moment';
import { LetterActions } from './letter-actions';
import { brokenThing, lastTry } from './letter-words';

function Closed({ closed }: { readonly closed: NonNullable<DeadLetter['closed']> }) {
  return (
    <div className="closed">
      <p>
        Closed by <code>{closed.by}</code> with <strong>{closed.as}</strong> at <Moment at={closed.at} />
        {closed.reason !== null && (
          <>
            : “<Words value={closed.reason} />”
          </>
        )}
      </p>
      {closed.evidence !== null && <JsonView label="Evidence" value={closed.evidence} />}
    </div>
  );
}

/** What broke, the likely cause, what waits behind it, and what can be done. */
export function LetterPanel({ letter }: { readonly letter: DeadLetter }) {
  const { code, closed, child_session_id: child, stack_position: position } = letter;
  return (
    <section className={`letter ${letter.state}`} aria-label="What broke">
      <h2>
        {brokenThing(letter)} broke{position !== null && <> at position {position}</>}
      </h2>
      <p className="cause">{code === null ? 'Why is not known.' : `${explain(code)}.`}</p>
      <dl className="facts">
        <div>
          <dt>Code</dt>
          <dd>
            <code>{visible(code ?? '—')}</code>
          </dd>
        </div>
        <div>
          <dt>Last try</dt>
          <dd>{lastTry(letter)}</dd>
        </div>
        <div>
          <dt>Tries</dt>
          <dd>{letter.attempts}</dd>
        </div>
        <div>
          <dt>Waiting behind it</dt>
          <dd>{letter.not_undone.length}</dd>
        </div>
        <div>
          <dt>Halted</dt>
          <dd>
            <Age at={letter.halted_at} />
          </dd>
        </div>
        {child !== null && (
          <div>
            <dt>Halted child</dt>
            <dd>
              <Link href={`/sessions/${encodeURIComponent(child)}`}>{visible(child)}</Link>
            </dd>
          </div>
        )}
      </dl>
      {closed && <Closed closed={closed} />}
      <LetterActions letter={letter} />
    </section>
  );
}
