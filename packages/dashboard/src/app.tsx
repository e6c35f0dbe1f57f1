import { useCallback, useEffect, useMemo, useState } from 'react';
import { QueryCache, QueryClient, QueryClientProvider, MutationCache } from '@tanstack/react-query';
import { Router } from 'wouter';
import { UndoLogError } from '@undolog/client';
import { Failure } from './parts/failure';
import { Api, createApi } from './server/api';
import { whoIsSignedIn, type SignIn } from './server/sign-in';
import { ADDRESS } from './shell/address';
import { PreferencesProvider } from './shell/preferences';
import { Shell } from './shell/shell';
import { SignInPage } from './sign-in/sign-in-page';

/** `undefined`: not known yet. */
type Known = SignIn | null | undefined;

function createQueries(signInChanged: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof UndoLogError && (error.status === 401 || error.code === 'csrf_refused')) signInChanged();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The client of the API repeats what may be repeated. What was read is shown as it is: sharing parts of what was
      // read before rebuilds objects, and a member called `__proto__` would be lost.
      queries: { retry: false, staleTime: 2_000, structuralSharing: false },
      mutations: { retry: false },
    },
  });
}

interface SignedInProps {
  readonly as: SignIn;
  /** Somebody signed out, or in as another, perhaps in another tab. */
  readonly signInChanged: () => void;
}

function SignedIn({ as, signInChanged }: SignedInProps) {
  const api = useMemo(() => createApi(as), [as]);
  // Nothing of one sign-in is shown to the next.
  const queries = useMemo(() => createQueries(signInChanged), [signInChanged]);
  return (
    <QueryClientProvider client={queries}>
      <Api value={api}>
        <Shell signIn={as} signInChanged={signInChanged} />
      </Api>
    </QueryClientProvider>
  );
}

function Gate() {
  const [known, setKnown] = useState<Known>(undefined);
  const [fault, setFault] = useState<Error>();
  const ask = useCallback(() => {
    const know = (now: SignIn | null): void =>
      setKnown((before) => (before && before.csrf_token === now?.csrf_token ? before : now));
    whoIsSignedIn().then(know, setFault);
  }, []);
  useEffect(ask, [ask]);
  if (fault) return <Failure error={fault} again={() => window.location.reload()} />;
  if (known === undefined) return null;
  if (known === null) return <SignInPage signedIn={setKnown} />;
  return <SignedIn key={known.csrf_token} as={known} signInChanged={ask} />;
}

export function App() {
  return (
    <PreferencesProvider>
      <Router base="/dashboard" {...ADDRESS}>
        <Gate />
      </Router>
    </PreferencesProvider>
  );
}
