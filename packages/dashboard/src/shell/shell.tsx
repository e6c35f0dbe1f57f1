import { useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { AuditPage } from '../audit/audit-page';
import { CompensationsPage } from '../compensations/compensations-page';
import { DeadLetterPage } from '../dead-letters/dead-letter-page';
import { DeadLettersPage } from '../dead-letters/dead-letters-page';
import { OverviewPage } from '../overview/overview-page';
import { Mishap } from '../parts/mishap';
import { useApi } from '../server/api';
import { useLive } from '../server/live';
import type { SignIn } from '../server/sign-in';
import { SessionPage } from '../session/session-page';
import { SessionsPage } from '../sessions/sessions-page';
import { KeysDialog } from './keys-dialog';
import { NoticesProvider } from './notices';
import { ReaderMenu } from './reader-menu';
import { useShortcuts } from './shortcuts';

const PLACES = [
  { path: '/overview', name: 'Overview', key: 'g o' },
  { path: '/sessions', name: 'Sessions', key: 'g s' },
  { path: '/dead-letters', name: 'Dead letters', key: 'g d' },
  { path: '/compensations', name: 'Compensations', key: 'g c' },
  { path: '/audit', name: 'Audit log', key: 'g a' },
] as const;

function Places() {
  const [location] = useLocation();
  return (
    <nav aria-label="Pages">
      {PLACES.map(({ path, name, key }) => (
        <Link
          key={path}
          href={path}
          aria-current={location.startsWith(path) ? 'page' : undefined}
          title={`${name} (${key})`}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

function Connection({ live }: { readonly live: boolean }) {
  return (
    <span className={live ? 'connection live' : 'connection'} role="status">
      {live ? 'Live' : 'Connecting…'}
    </span>
  );
}

function focusSearch(): void {
  const search = document.querySelector<HTMLInputElement>('input[type="search"]');
  search?.focus();
  search?.select();
}

interface ShellProps {
  readonly signIn: SignIn;
  readonly signInChanged: () => void;
}

/** What is around every page, for somebody who is signed in. */
export function Shell({ signIn, signInChanged }: ShellProps) {
  const live = useLive(useApi());
  const [location, go] = useLocation();
  const [keysShown, showKeys] = useState(false);
  const places = Object.fromEntries(PLACES.map(({ path, key }) => [key, () => go(path)]));
  useShortcuts({ ...places, '?': () => showKeys(true), '/': focusSearch });
  return (
    <NoticesProvider>
      <a className="skip-link" href="#main">
        To the content
      </a>
      <header className="shell">
        <Link href="/overview" className="brand">
          UndoLog
        </Link>
        <Places />
        <Connection live={live} />
        <ReaderMenu signIn={signIn} signInChanged={signInChanged} showKeys={() => showKeys(true)} />
      </header>
      <main id="main" tabIndex={-1}>
        <Mishap key={location}>
          <Switch>
            <Route path="/overview" component={OverviewPage} />
            <Route path="/sessions" component={SessionsPage} />
            <Route path="/sessions/:id">{({ id }) => <SessionPage key={id} id={decodeURIComponent(id)} />}</Route>
            <Route path="/dead-letters" component={DeadLettersPage} />
            <Route path="/dead-letters/:id">{({ id }) => <DeadLetterPage key={id} id={id} />}</Route>
            <Route path="/compensations" component={CompensationsPage} />
            <Route path="/audit" component={AuditPage} />
            <Route>
              <Redirect to="/overview" replace />
            </Route>
          </Switch>
        </Mishap>
      </main>
      {keysShown && <KeysDialog close={() => showKeys(false)} />}
    </NoticesProvider>
  );
}
