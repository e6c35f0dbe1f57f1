import type { SessionState, UndoState } from '@undolog/client';

export type State = SessionState | UndoState | 'open' | 'closed' | 'half_open' | 'paused';

/** A sign beside the word, so that colour is never all there is. */
const SIGNS: Readonly<Record<State, string>> = {
  active: '●',
  completed: '✓',
  failed: '✕',
  compensating: '↺',
  compensated: '✓',
  halted: '■',
  resolved: '✓',
  pending: '○',
  running: '▶',
  unconfirmed: '?',
  skipped: '–',
  open: '■',
  closed: '✓',
  half_open: '↺',
  paused: '■',
};

function isState(state: string): state is State {
  return Object.hasOwn(SIGNS, state);
}

export function StateBadge({ state }: { readonly state: string }) {
  return (
    <span className={isState(state) ? `state ${state}` : 'state'}>
      <span aria-hidden="true">{isState(state) ? SIGNS[state] : '●'}</span> {state.replace('_', ' ')}
    </span>
  );
}
