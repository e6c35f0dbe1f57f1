import { useEffect, useMemo, useState } from 'react';
import { QueryCache, QueryClient, QueryClientProvider, MutationCache } from '@tanstack/react-query';
import { UndoLogError } from '@undolog/client';
import { Router } from 'wouter';
import { Failure } from './parts/failure';
import { Api, createApi } from './server/api';
import { whoIsSignedIn, type SignIn } from './server/sign-in';
import { PreferencesProvider } from './shell/preferences';
import { Shell } from './shell/shell';
import { SignInPage } from './sign-in/sign-in-page';

/** `undefined`: not known yet. */
type Known = SignIn | null | undefined;

function createQueries(signedOut: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof UndoLogError && error.status === 401) signedOut();
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

function SignedIn({ as, signedOut }: { readonly as: SignIn; readonly signedOut: () => void }) {
  const api = useMemo(() => createApi(as), [as]);
  // Nothing of one sign-in is shown to the next.
  const queries = useMemo(() => createQueries(signedOut), [signedOut]);
  return (
    <QueryClientProvider client={queries}>
      <Api value={api}>
        <Shell signIn={as} signedOut={signedOut} />
      </Api>
    </QueryClientProvider>
  );
}

function Gate() {
  const [known, setKnown] = useState<Known>(undefined);
  const [fault, setFault] = useState<Error>();
  const [signedOut] = useState(() => () => setKnown(null));
  useEffect(() => {
    whoIsSignedIn().then(setKnown, setFault);
  }, []);
  if (fault) return <Failure error={fault} again={() => window.location.reload()} />;
  if (known === undefined) return null;
  if (known === null) return <SignInPage signedIn={setKnown} />;
  return <SignedIn key={known.csrf_token} as={known} signedOut={signedOut} />;
}

export function App() {
  return (
    <PreferencesProvider>
      <Router base="/dashboard">
        <Gate />
      </Router>
    </PreferencesProvider>
  );
}
