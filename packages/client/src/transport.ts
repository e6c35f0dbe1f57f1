import { jittered, requestKey } from './chance.js';
import { NoAnswer, UndoLogError } from './errors.js';
import { toJson } from './raw-json.js';

export interface Options {
  /** Where the API listens, such as `https://undolog.example`. */
  readonly baseUrl: string;
  /** Left out in a browser that is signed in by a cookie. */
  readonly apiKey?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** How long one try may take. */
  readonly timeoutMs?: number;
  /** Further tries after the first. */
  readonly maxRetries?: number;
  /** How answers are read; `JSON.parse` rounds integers beyond 2^53. */
  readonly parse?: (text: string) => unknown;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_RETRIES = 6;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;

/** What may go otherwise the next time; the request's key makes a repeat harmless. */
function isPassing({ status, code }: UndoLogError): boolean {
  return status === 429 || status >= 500 || code === 'idempotency_key_in_progress';
}

function waitMs(tries: number, retryAfter: string | null): number {
  const asked = Number(retryAfter ?? 0) * 1000;
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MAX_WAIT_MS);
  return Math.max(asked > 0 ? Math.min(asked, 6 * MAX_WAIT_MS) : 0, jittered(backoff));
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Makes requests, and makes them again: each logical one has one `Idempotency-Key`, however often it is sent. */
export class Transport {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') };
  }

  /** One try, whose answer is not read. For streams, and for whoever looks at the headers. */
  async send(request: Request, signal?: AbortSignal): Promise<Response> {
    const { apiKey, baseUrl, headers, fetch: send = fetch } = this.#options;
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) search.set(name, String(value));
    }
    const query = search.size > 0 ? `?${search.toString()}` : '';
    const body = request.body === undefined ? undefined : toJson(request.body);
    return send(baseUrl + request.path + query, {
      method: request.method,
      headers: {
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...request.headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
  }

  /** The answer's body; undefined where there is none. @throws {UndoLogError} {NoAnswer} */
  async request<T>(request: Request): Promise<T> {
    return (await this.requestWithHeaders<T>(request)).body;
  }

  async requestWithHeaders<T>(request: Request): Promise<{ readonly body: T; readonly headers: Headers }> {
    const key = request.method === 'POST' ? { 'idempotency-key': requestKey() } : {};
    const named = { ...request, headers: { ...key, ...request.headers } };
    const { maxRetries = DEFAULT_RETRIES } = this.#options;
    for (let tries = 1; ; tries++) {
      request.signal?.throwIfAborted();
      const outcome = await this.#try<T>(named);
      if ('body' in outcome) return outcome;
      if (tries > maxRetries || !outcome.passing) throw outcome.error;
      await sleep(waitMs(tries, outcome.retryAfter), request.signal);
    }
  }

  async #try<T>(
    request: Request,
  ): Promise<
    | { readonly body: T; readonly headers: Headers }
    | { readonly error: Error; readonly passing: boolean; readonly retryAfter: string | null }
  > {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, parse = JSON.parse } = this.#options;
    const limits = [AbortSignal.timeout(timeoutMs), ...(request.signal ? [request.signal] : [])];
    let response: Response;
    let text: string;
    try {
      response = await this.send(request, AbortSignal.any(limits));
      text = await response.text();
    } catch (cause) {
      request.signal?.throwIfAborted();
      const error = new NoAnswer(`no answer to ${request.method} ${request.path}`, { cause });
      return { error, passing: true, retryAfter: null };
    }
    if (response.ok) return { body: (text === '' ? undefined : parse(text)) as T, headers: response.headers };
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const error = new UndoLogError(response.status, problemOf(text), requestId);
    return { error, passing: isPassing(error), retryAfter: response.headers.get('retry-after') };
  }
}

/** Something between us and the API may answer with a page of its own. */
function problemOf(text: string): Record<string, unknown> {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === 'object' && problem !== null ? (problem as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
