import type { SessionState, UndoState } from '@undolog/shared/domain/states';
import { requestJson } from './request-json.js';

export interface Session {
  readonly session_id: string;
  readonly state: SessionState;
  readonly fully_compensated: boolean;
  readonly undo_counts: Readonly<Record<UndoState, number>>;
}

export interface StackEntry {
  readonly undo_id: string;
  readonly stack_position: number;
  readonly state: UndoState;
  readonly code: string | null;
  readonly fn_name: string | null;
  readonly superseded_by: string | null;
  readonly effect: {
    readonly tool_name: string;
    readonly result: { readonly booking_id?: string } | null;
    readonly idempotency_key: string;
  };
}

export interface Registration {
  readonly decision: 'execute' | 'in_flight' | 'replay' | 'refuse';
  readonly effect_id: string;
  readonly idempotency_key: string;
}

/** UndoLog answered with a status that the demo has no use for. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
  constructor(method: string, path: string, status: number, body: unknown) {
    super(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
  }
}

/** UndoLog's HTTP interface, as far as the demo uses it, with the key of one org. */
export class UndoLogClient {
  readonly baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.baseUrl = baseUrl;
    this.#apiKey = apiKey;
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.#send<T>('POST', path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#send<T>('PUT', path, body);
  }

  /** Every session of the org, in one state or in all of them. */
  async sessions(state?: SessionState): Promise<Session[]> {
    const found: Session[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: '200' });
      if (state !== undefined) query.set('state', state);
      if (cursor !== null) query.set('cursor', cursor);
      const page: { data: Session[]; next_cursor: string | null } = await this.get(`/v1/sessions?${query.toString()}`);
      found.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return found;
  }

  /** The undo entries of a session, the one that runs first at the top. */
  async stack(sessionId: string): Promise<StackEntry[]> {
    return (await this.get<{ data: StackEntry[] }>(`/v1/sessions/${encodeURIComponent(sessionId)}/stack`)).data;
  }

  async #send<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> {
    const answer = await requestJson(method, this.baseUrl + path, {
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${this.#apiKey}` },
    });
    if (answer.status >= 300) throw new UnexpectedAnswer(method, path, answer.status, answer.body);
    return answer.body as T;
  }
}

/** Opens a new org, with nothing in it, and returns its id and admin key. */
export async function createOrg(
  baseUrl: string,
  adminToken: string,
  name: string,
): Promise<{ orgId: string; apiKey: string }> {
  const client = new UndoLogClient(baseUrl, adminToken);
  const answer = await client.post<{ org_id: string; api_key: string }>('/v1/orgs', { name });
  return { orgId: answer.org_id, apiKey: answer.api_key };
}
