import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { visible } from '@undolog/client/visible-text';
import { QueryView } from '../parts/query-view';
import { StateBadge } from '../parts/state-badge';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { SessionView } from '../session/session-view';
import { useShortcuts } from '../shell/shortcuts';

/** A dead letter, and below it the session that it stopped. */
export function DeadLetterPage({ id }: { readonly id: string }) {
  usePageTitle(`Dead letter ${id}`);
  const api = useApi();
  const [, go] = useLocation();
  useShortcuts({ Escape: () => go('/dead-letters') });
  const letter = useQuery({ queryKey: ['dead-letters', 'one', id], queryFn: () => api.deadLetters.get(id) });
  return (
    <QueryView query={letter}>
      {(shown) => (
        <>
          <p className="crumbs">
            <Link href="/dead-letters">Dead letters</Link> <StateBadge state={shown.state} />
          </p>
          <h1>
            Session <Link href={`/sessions/${encodeURIComponent(shown.session_id)}`}>{visible(shown.session_id)}</Link>
          </h1>
          <SessionView id={shown.session_id} letter={shown} />
        </>
      )}
    </QueryView>
  );
}
