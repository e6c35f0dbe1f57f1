import { useState } from 'react';
import type { UndoEntry } from '@undolog/client';
import { explain } from '@undolog/client/explain';
import { visible } from '@undolog/client/visible-text';
import { Moment } from '../parts/moment';
import { StateBadge } from '../parts/state-badge';
import { Attempts } from './attempts';
import { EntryDetails } from './entry-details';

const OUTCOMES: Readonly<Record<UndoEntry['effect']['state'], string>> = {
  pending: 'not begun',
  executing: 'outcome unknown',
  committed: 'took effect',
  failed: 'did not take effect',
  compensating: 'being undone',
  compensated: 'undone',
  compensation_failed: 'stands: its undo was refused',
  compensation_unconfirmed: 'may stand: its undo is not proved',
};

const PROOFS = { confirmed: "the vendor's record agrees", answered: 'the vendor said so' } as const;

/** Reasons of ours are words with underscores; those of people are sentences. */
const readable = (reason: string): string => visible(/^[a-z_]+$/.test(reason) ? reason.replaceAll('_', ' ') : reason);

function Effect({ entry: { effect } }: { readonly entry: UndoEntry }) {
  const at = effect.executed_at ?? effect.registered_at;
  return (
    <div className="effect">
      <strong>{visible(effect.tool_name)}</strong>
      {effect.effect_class !== 'compensable' && <span className="tag">{effect.effect_class}</span>}
      <p>
        <span className={`outcome ${effect.state}`}>{OUTCOMES[effect.state]}</span>{' '}
        <span className="hint">
          · called <Moment at={at} />
        </span>
      </p>
    </div>
  );
}

function Undo({ entry }: { readonly entry: UndoEntry }) {
  const { fn_name: name, version, state, proof, code, reason, superseded_by: successor } = entry;
  return (
    <div className="undo">
      <StateBadge state={state} />
      {name !== null && (
        <span>
          {visible(name)}@{visible(version ?? '')}
        </span>
      )}
      {successor !== null && <span className="tag">replaced</span>}
      {proof !== null && <span className="hint">{PROOFS[proof]}</span>}
      {code !== null && state !== 'compensated' && <p className="cause">{explain(code)}</p>}
      {reason !== null && <p className="hint">{readable(reason)}</p>}
      <Attempts attempts={entry.attempts} />
    </div>
  );
}

interface StackRowProps {
  readonly entry: UndoEntry;
  /** The unwind is here. */
  readonly current: boolean;
  readonly halted: boolean;
}

export function StackRow({ entry, current, halted }: StackRowProps) {
  const [open, setOpen] = useState(false);
  const where = current ? (halted ? 'current stopped' : 'current') : '';
  return (
    <li
      className={`row ${where} ${entry.superseded_by === null ? '' : 'superseded'}`}
      aria-current={current ? 'step' : undefined}
    >
      <span className="position">
        {current && <span className="cursor" aria-label={halted ? 'it stopped here' : 'it is here'} role="img" />}
        {entry.stack_position}
      </span>
      <Effect entry={entry} />
      <Undo entry={entry} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary aria-label={`Details of position ${entry.stack_position}`}>Details</summary>
        {open && <EntryDetails entry={entry} />}
      </details>
    </li>
  );
}
