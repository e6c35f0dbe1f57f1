import type { UndoEntry } from '@undolog/client';
import { Copyable } from '../parts/copyable';
import { JsonView } from '../parts/json-view';
import { Moment } from '../parts/moment';

const UNREADABLE = {
  encryption_key_missing: 'The values are sealed with a key that this server does not have.',
  value_damaged: 'The values were changed in the database and cannot be read.',
} as const;

function Times({
  entry: { effect, registered_at: registered, compensated_at: undone },
}: {
  readonly entry: UndoEntry;
}) {
  const times = [
    ['Registered', registered],
    ['Told to run', effect.executed_at],
    ['Reported', effect.committed_at],
    ['Undone', undone],
  ] as const;
  return (
    <dl className="facts">
      {times.map(
        ([name, at]) =>
          at !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Moment at={at} />
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** What was sent and answered, and the keys under which vendors know it. */
export function EntryDetails({ entry }: { readonly entry: UndoEntry }) {
  const { effect, undo_id: undoId, unreadable } = entry;
  return (
    <div>
      <Times entry={entry} />
      {unreadable && <p className="fault">{UNREADABLE[unreadable]}</p>}
      {!unreadable && (
        <div className="values">
          <JsonView label="Arguments of the call" value={effect.args} />
          <JsonView label="Its result" value={effect.result} />
          <JsonView label="Arguments of the undo" value={entry.args} />
        </div>
      )}
      <dl className="facts">
        <div>
          <dt>Key of the call</dt>
          <dd>
            <Copyable text={effect.idempotency_key} label="the key of the call" />
          </dd>
        </div>
        <div>
          <dt>Key of the undo</dt>
          <dd>
            <Copyable text={`undo-${undoId}`} label="the key of the undo" />
          </dd>
        </div>
      </dl>
    </div>
  );
}
