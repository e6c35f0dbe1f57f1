import type { Session, UndoState } from '@undolog/client';

const ORDER: readonly UndoState[] = ['compensated', 'skipped', 'running', 'failed', 'unconfirmed', 'active', 'pending'];

/** How its undo entries stand, as one bar; the words are for those who can't see it. */
export function Progress({ session: { undo_counts: counts, state: sessionState } }: { readonly session: Session }) {
  const parts = ORDER.filter((state) => counts[state] > 0);
  const total = parts.reduce((sum, state) => sum + counts[state], 0);
  if (total === 0) return <span className="hint">nothing to undo</span>;
  if (sessionState === 'completed') return <span className="hint">{total} kept</span>;
  const words = parts.map((state) => `${counts[state]} ${state}`).join(', ');
  const done = counts.compensated + counts.skipped;
  return (
    <span className="progress" title={words}>
      <span role="img" aria-label={words} className="bar">
        {parts.map((state) => (
          <span key={state} className={`part ${state}`} style={{ flexGrow: counts[state] }} />
        ))}
      </span>
      <span aria-hidden="true">
        {done}/{total}
      </span>
    </span>
  );
}
