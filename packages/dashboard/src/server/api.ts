import { createContext, use } from 'react';
import { UndoLog } from '@undolog/client';
import { parseExactly } from './exact-json';
import type { SignIn } from './sign-in';

/** A person waits: rather an error with a button than a minute of silence. */
const TRIES_AFTER_THE_FIRST = 2;

/** The client of a browser that is signed in: the cookie goes along by itself, and the proof with it. */
export function createApi({ csrf_token }: SignIn): UndoLog {
  return new UndoLog({
    baseUrl: '',
    headers: { 'x-undolog-csrf': csrf_token },
    maxRetries: TRIES_AFTER_THE_FIRST,
    parse: parseExactly,
    fetch: (...request) => fetch(...request),
  });
}

export const Api = createContext<UndoLog | undefined>(undefined);

export function useApi(): UndoLog {
  const api = use(Api);
  if (!api) throw new Error('nobody is signed in here');
  return api;
}
