import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { Copyable } from '../parts/copyable';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { useShortcuts } from '../shell/shortcuts';
import { SessionView } from './session-view';

/** The newest dead letter of a session, open or closed; a halted one has an open one. */
function useLetter(sessionId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['dead-letters', 'of', sessionId],
    queryFn: async () => (await api.deadLetters.list({ session_id: sessionId, limit: 1 })).data[0] ?? null,
  });
}

export function SessionPage({ id }: { readonly id: string }) {
  usePageTitle(`Session ${id}`);
  const [, go] = useLocation();
  useShortcuts({ Escape: () => go('/sessions') });
  const letter = useLetter(id);
  return (
    <>
      <p className="crumbs">
        <Link href="/sessions">Sessions</Link>
      </p>
      <h1>
        Session <Copyable text={id} label="the session's id" />
      </h1>
      <SessionView id={id} letter={letter.data ?? undefined} />
    </>
  );
}
