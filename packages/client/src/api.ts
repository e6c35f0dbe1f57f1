import { drain, type DrainProgress } from './drain.js';
import { streamChanges, type StreamOptions } from './stream.js';
import { Transport, type Options, type Request } from './transport.js';
import type * as ops from './operator-types.js';
import type * as api from './types.js';

/** Acts on a dead letter as it was seen: one that has changed since is refused with 412. */
export interface IfMatch {
  readonly version?: number;
}

type Body = Readonly<Record<string, unknown>>;
type Query = Request['query'] | api.PageQuery | ops.OverviewQuery;

/** The routes of the HTTP interface, with the key of one org. Every method throws `UndoLogError` or `NoAnswer`. */
export class UndoLogApi {
  readonly #transport: Transport;

  constructor(options: Options) {
    this.#transport = new Transport(options);
  }

  /** Any route, with the same repeats. */
  request<T>(request: Request): Promise<T> {
    return this.#transport.request<T>(request);
  }

  #get<T>(path: string, query?: Query): Promise<T> {
    return this.#transport.request<T>({ method: 'GET', path, query: { ...query } });
  }

  #post<T>(path: string, body: Body = {}, { version }: IfMatch = {}): Promise<T> {
    const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
    return this.#transport.request<T>({ method: 'POST', path, body, headers });
  }

  readonly sessions = {
    create: (body: api.OpenSession = {}) => this.#post<api.Session>('/v1/sessions', { ...body }),
    list: (query: api.SessionQuery = {}) => this.#get<api.Page<api.Session>>('/v1/sessions', query),
    get: (id: string) => this.#get<api.Session>(sessionPath(id)),
    stack: async (id: string) => (await this.#get<{ data: api.UndoEntry[] }>(`${sessionPath(id)}/stack`)).data,
    register: (id: string, body: api.RegisterEffect) =>
      this.#post<api.RegisteredEffect>(`${sessionPath(id)}/effects`, { ...body }),
    complete: (id: string, body: { leave_unknown?: boolean } = {}) =>
      this.#post<api.SessionStateAnswer>(`${sessionPath(id)}/complete`, body),
    fail: (id: string, body: { reason: string; effect_id?: string; plan_digest?: string }) =>
      this.#post<api.SessionStateAnswer>(`${sessionPath(id)}/fail`, body),
    cancel: (id: string, body: { reason: string; plan_digest?: string }) =>
      this.#post<api.SessionStateAnswer>(`${sessionPath(id)}/cancel`, body),
    heartbeat: (id: string) => this.#post<{ lease_expires_at: string | null }>(`${sessionPath(id)}/heartbeat`),
    plan: (id: string, body: { to_position?: number } = {}) => this.#post<api.Plan>(`${sessionPath(id)}/plan`, body),
    rollback: (id: string, body: { to_position: number; plan_digest?: string }) =>
      this.#post<api.SessionStateAnswer>(`${sessionPath(id)}/rollback`, body),
  };

  /** Erases arguments, results and reasons of a session that has ended, part after part; what happened stays. */
  async eraseSessionData(id: string): Promise<ops.ErasedData> {
    for (;;) {
      const path = `${sessionPath(id)}/data`;
      const erased = await this.#transport.request<ops.ErasedData>({ method: 'DELETE', path });
      if (erased.complete) return erased;
    }
  }

  readonly effects = {
    commit: (id: string, body: { result?: unknown } = {}) =>
      this.#post<api.ReportedEffect>(`/v1/effects/${encodeURIComponent(id)}/commit`, body),
    fail: (id: string, body: { error: unknown; outcome: 'not_applied' | 'unknown' }) =>
      this.#post<api.ReportedEffect>(`/v1/effects/${encodeURIComponent(id)}/fail`, body),
  };

  readonly compensations = {
    list: async () => (await this.#get<{ data: ops.Compensation[] }>('/v1/compensations')).data,
    /** How undos ended lately; `sampled`: the time held more than is read. */
    outcomes: (query: ops.OverviewQuery = {}) =>
      this.#get<{ data: ops.CompensationOutcomes[]; sampled: boolean }>('/v1/compensations/outcomes', query),
    get: (fnName: string, version: string) => this.#get<ops.Compensation>(compensationPath(fnName, version)),
    put: (fnName: string, version: string, body: Body) =>
      this.#transport.request<ops.Compensation>({ method: 'PUT', path: compensationPath(fnName, version), body }),
    pause: (fnName: string, reason: string) =>
      this.#post<ops.CompensationPause>(`/v1/compensations/${encodeURIComponent(fnName)}/pause`, { reason }),
    resume: (fnName: string) =>
      this.#post<ops.CompensationPause>(`/v1/compensations/${encodeURIComponent(fnName)}/resume`),
  };

  readonly deadLetters = {
    list: (query: ops.DeadLetterQuery = {}) => this.#get<api.Page<ops.DeadLetter>>('/v1/dead-letters', query),
    get: (id: string) => this.#get<ops.DeadLetter>(letterPath(id)),
    retry: (
      id: string,
      body: { undo_id?: string; args?: unknown; version?: string; reason?: string } = {},
      seen: IfMatch = {},
    ) => this.#post<api.SessionStateAnswer>(`${letterPath(id)}/retry`, body, seen),
    skip: (id: string, body: { reason: string; undo_id?: string }, seen: IfMatch = {}) =>
      this.#post<api.SessionStateAnswer>(`${letterPath(id)}/skip`, body, seen),
    resolve: (id: string, body: { reason: string; evidence?: unknown }, seen: IfMatch = {}) =>
      this.#post<api.SessionStateAnswer>(`${letterPath(id)}/resolve`, body, seen),
    confirm: (id: string, seen: IfMatch = {}) =>
      this.#post<{ confirmed: boolean; state: api.SessionState }>(`${letterPath(id)}/confirm`, {}, seen),
    /** One request; with some `remaining`, make it again after `retryAfterMs`, with its `as_of` as `halted_before`. */
    bulk: async (body: ops.BulkDeadLetters): Promise<ops.BulkAnswer & { retryAfterMs: number }> => {
      const request = { method: 'POST', path: '/v1/dead-letters/bulk', body } as const;
      const answer = await this.#transport.requestWithHeaders<ops.BulkAnswer>(request);
      return { ...answer.body, retryAfterMs: Number(answer.headers.get('retry-after') ?? 0) * 1000 };
    },
    /** Bulk requests until all that matched is done, or the signal ends them; yields how far it has come. */
    drain: (body: ops.BulkDeadLetters, signal?: AbortSignal): AsyncGenerator<DrainProgress> =>
      drain(this.deadLetters.bulk, body, signal),
  };

  readonly audit = {
    list: (query: ops.AuditQuery = {}) => this.#get<api.Page<ops.AuditEntry>>('/v1/audit', query),
    seals: (query: api.PageQuery & { number?: number } = {}) =>
      this.#get<api.Page<ops.AuditSeal>>('/v1/audit/seals', query),
    /** Proves the next seals after one that was proved. */
    verify: (after = 0) => this.#get<ops.VerifiedAudit>('/v1/audit/verify', { after }),
  };

  readonly keys = {
    list: async () => (await this.#get<{ data: ops.ApiKey[] }>('/v1/keys')).data,
    create: (body: { role: api.Role; name?: string }) =>
      this.#post<{ key_id: string; role: api.Role; api_key: string }>('/v1/keys', body),
    revoke: (keyId: string) =>
      this.#transport.request<undefined>({ method: 'DELETE', path: `/v1/keys/${encodeURIComponent(keyId)}` }),
  };

  readonly secrets = {
    list: async () => (await this.#get<{ data: ops.Secret[] }>('/v1/secrets')).data,
    /** From now on compensations that name it send this value. */
    put: (name: string, value: string) =>
      this.#transport.request<undefined>({
        method: 'PUT',
        path: `/v1/secrets/${encodeURIComponent(name)}`,
        body: { value },
      }),
  };

  readonly webhooks = {
    list: async () => (await this.#get<{ data: ops.Webhook[] }>('/v1/webhooks')).data,
    get: (id: string) => this.#get<ops.Webhook>(webhookPath(id)),
    /** The secret that signs its alerts is shown this once. */
    create: (body: ops.CreateWebhook) => this.#post<ops.Webhook & { secret: string }>('/v1/webhooks', { ...body }),
    remove: (id: string) => this.#transport.request<undefined>({ method: 'DELETE', path: webhookPath(id) }),
    enable: (id: string) => this.#post<ops.Webhook>(`${webhookPath(id)}/enable`),
    /** Sends an alert that says nothing, to see it arrive. */
    test: (id: string) => this.#post<{ delivery_id: string }>(`${webhookPath(id)}/test`),
    deliveries: (id: string, query: api.PageQuery = {}) =>
      this.#get<api.Page<ops.AlertDelivery>>(`${webhookPath(id)}/deliveries`, query),
    redeliver: (id: string, deliveryId: string) =>
      this.#post<{ delivery_id: string }>(`${webhookPath(id)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`),
  };

  /** How the org is doing. */
  overview(query: ops.OverviewQuery = {}): Promise<ops.Overview> {
    return this.#get<ops.Overview>('/v1/overview', query);
  }

  /** Which key this is, and what it may do. */
  whoami(): Promise<ops.Caller> {
    return this.#get<ops.Caller>('/v1/whoami');
  }

  /** Changes of the org's sessions and undo entries, as they happen. It ends only with its signal. */
  stream(options: StreamOptions = {}): AsyncGenerator<api.Change> {
    return streamChanges(this.#transport, options);
  }
}

function sessionPath(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}

function letterPath(id: string): string {
  return `/v1/dead-letters/${encodeURIComponent(id)}`;
}

function webhookPath(id: string): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`;
}

function compensationPath(fnName: string, version: string): string {
  return `/v1/compensations/${encodeURIComponent(fnName)}/${encodeURIComponent(version)}`;
}
