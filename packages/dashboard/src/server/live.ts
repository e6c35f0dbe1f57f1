import { useEffect, useState } from 'react';
import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import type { Change, Page, Session, SessionState, UndoLog } from '@undolog/client';

/** Changes within this time are shown together. */
const GATHER_MS = 120;
/** Lists and sums are read anew at most this often, however much happens. */
const SUMS_MS = 1500;

/** Rows of lists that are shown take the new state at once; nothing is fetched for them. */
function patchLists(queries: QueryClient, states: ReadonlyMap<string, SessionState>): void {
  const patch = (page: Page<Session>): Page<Session> => ({
    ...page,
    data: page.data.map((row) => ({ ...row, state: states.get(row.session_id) ?? row.state })),
  });
  queries.setQueriesData<InfiniteData<Page<Session>>>(
    { queryKey: ['sessions', 'pages'] },
    (list) => list && { ...list, pages: list.pages.map(patch) },
  );
}

/** Shows changes as they are told, so many at a time as a person can see. */
class Gatherer {
  readonly #queries: QueryClient;
  readonly #sessions = new Set<string>();
  readonly #states = new Map<string, SessionState>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sumsTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  add({ event, session_id: id, state }: Change): void {
    this.#sessions.add(id);
    if (event === 'session') this.#states.set(id, state as SessionState);
    this.#timer ??= setTimeout(() => this.#show(), GATHER_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#sumsTimer);
  }

  #show(): void {
    this.#timer = undefined;
    for (const id of this.#sessions) void this.#queries.invalidateQueries({ queryKey: ['session', id] });
    for (const id of this.#states.keys()) {
      void this.#queries.invalidateQueries({ queryKey: ['dead-letters', 'of', id] });
    }
    if (this.#states.size > 0) {
      patchLists(this.#queries, this.#states);
      this.#sumsTimer ??= setTimeout(() => this.#showSums(), SUMS_MS);
    }
    this.#sessions.clear();
    this.#states.clear();
  }

  #showSums(): void {
    this.#sumsTimer = undefined;
    for (const queryKey of [['overview'], ['dead-letters'], ['compensations']]) {
      void this.#queries.invalidateQueries({ queryKey });
    }
  }
}

/** The page is looked at. A hidden one gives its connection back: a browser has but six for a server. */
function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return visible;
}

async function follow(queries: QueryClient, stream: AsyncGenerator<Change>, signal: AbortSignal): Promise<void> {
  const gatherer = new Gatherer(queries);
  signal.addEventListener('abort', () => gatherer.stop());
  for await (const change of stream) gatherer.add(change);
}

/** Follows the org's changes for as long as the page is looked at. @returns whether the connection is there. */
export function useLive(api: UndoLog): boolean {
  const queries = useQueryClient();
  const visible = useVisible();
  const [connected, setConnected] = useState(false);
  useEffect(() => {
    if (!visible) return undefined;
    const stop = new AbortController();
    const onConnection = (open: boolean): void => {
      setConnected(open);
      // What happened while nobody listened is in what is read now.
      if (open) void queries.invalidateQueries();
    };
    const stream = api.stream({ signal: stop.signal, onConnection });
    // It ends by an error only when nobody is signed in any more, or another, which every other request is told as well.
    follow(queries, stream, stop.signal).catch(() => {
      setConnected(false);
      void queries.invalidateQueries();
    });
    return () => {
      stop.abort();
      setConnected(false);
    };
  }, [api, queries, visible]);
  return connected;
}
