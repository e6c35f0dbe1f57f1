import { useQuery } from '@tanstack/react-query';
import type { DeadLetter, Session, SessionState } from '@undolog/client';
import { LetterPanel } from '../dead-letters/letter-panel';
import { QueryView } from '../parts/query-view';
import { useApi } from '../server/api';
import { SessionActions } from './session-actions';
import { SessionFacts } from './session-facts';
import { Stack } from './stack';
import { Standing } from './standing';

/** In these a session moves by itself; the stream tells what was settled, and between that it is looked at. */
const MOVING: ReadonlySet<SessionState> = new Set(['failed', 'compensating']);
const LOOK_MS = 600;

const interval = (session: Session | undefined): number | false =>
  session && MOVING.has(session.state) ? LOOK_MS : false;

/** The session, whole: where it stands, what broke, what is left at the vendors, and the stack of its undos. */
export function SessionView({ id, letter }: { readonly id: string; readonly letter: DeadLetter | undefined }) {
  const api = useApi();
  const session = useQuery({
    queryKey: ['session', id, 'view'],
    queryFn: () => api.sessions.get(id),
    refetchInterval: ({ state }) => interval(state.data),
  });
  const stack = useQuery({
    queryKey: ['session', id, 'stack'],
    queryFn: () => api.sessions.stack(id),
    refetchInterval: interval(session.data),
  });
  return (
    <QueryView query={session}>
      {(shown) => (
        <>
          <SessionFacts session={shown} />
          <SessionActions session={shown} />
          {letter && (letter.state === 'open' || shown.state !== 'active') && <LetterPanel letter={letter} />}
          <Standing session={shown} />
          <QueryView query={stack}>
            {(entries) => <Stack entries={entries} session={shown} letter={letter} />}
          </QueryView>
        </>
      )}
    </QueryView>
  );
}
