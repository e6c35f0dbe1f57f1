import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { VendorLedger } from './vendor-ledger.js';

/** How the vendor treats one call. Without anything: it does what it is asked and answers 200. */
export interface Step {
  readonly status?: number;
  /** A function is asked at each answer, for what depends on the time. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  readonly body?: string;
  /** Whether the books change; by default when the status is 2xx. They change before anything is waited for. */
  readonly applies?: boolean;
  readonly delayMs?: number;
  /** Waits for this before it answers. */
  readonly until?: Promise<unknown>;
  /** `reset` cuts the connection, `hang` never answers, `drip` sends a byte a second after the headers,
   * `garbage` sends what is no HTTP. */
  readonly ends?: 'answer' | 'reset' | 'hang' | 'drip' | 'garbage';
}

const DRIP_MS = 1000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;

interface Kept {
  readonly status: number;
  readonly body: string;
}

/**
 * A vendor of its own: an HTTP server with books (`book`, `standing`) and a ledger of every call.
 *
 * - `POST /book {"ref"}` is the forward call; it answers `{"booking_id"}`.
 * - `GET /record/<ref>` shows the booking: `{"state": "booked" | "cancelled"}`, or 404.
 * - every other path is an undo of the booking `ref` in its body.
 *
 * It honours idempotency keys: what was applied under a key is answered again and not applied again.
 */
export class VendorSimulator {
  readonly ledger = new VendorLedger();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });
  readonly #scripts = new Map<string, Step[]>();
  readonly #habits = new Map<string, Step>();
  readonly #kept = new Map<string, Kept>();
  readonly #books = new Map<string, 'booked' | 'cancelled'>();
  /** Paths at which it forgets that it honours keys. */
  readonly ignoresKeysAt = new Set<string>();
  /** Called when a forward call has arrived, before it is carried out. */
  onBook: ((key: string) => Promise<void>) | undefined;
  readonly #closing = new AbortController();

  async listen(): Promise<void> {
    setMaxListeners(0, this.#closing.signal);
    this.#server.keepAliveTimeout = 60_000;
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next calls at this path are treated so, one step each; after them the habit, or the default. */
  script(path: string, ...steps: Step[]): void {
    this.#scripts.set(path, [...(this.#scripts.get(path) ?? []), ...steps]);
  }

  always(path: string, step: Step): void {
    this.#habits.set(path, step);
  }

  /** Puts a path back to the default. */
  heal(path: string): void {
    this.#habits.delete(path);
    this.#scripts.delete(path);
  }

  /** References of the org's bookings that nobody has cancelled. */
  standing(org: string): string[] {
    const prefix = `${org} `;
    return [...this.#books]
      .filter(([name, state]) => name.startsWith(prefix) && state === 'booked')
      .map(([name]) => name.slice(prefix.length));
  }

  /** Its own clerk cancels a booking: no call says so, only the record. */
  cancelQuietly(org: string, ref: string): void {
    this.#books.set(`${org} ${ref}`, 'cancelled');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) throw new Error('body too large');
      chunks.push(chunk);
    }
    const path = decodeURIComponent(request.url!.split('?', 1)[0]!);
    const headers = request.headers as Record<string, string>;
    const entry = this.ledger.add({ method: request.method!, path, headers, body: Buffer.concat(chunks) });
    response.once('close', () => entry.closed(response.writableFinished ? response.statusCode : undefined));
    const { call } = entry;
    const step = this.#scripts.get(path)?.shift() ?? this.#habits.get(path) ?? {};
    if (path === '/book') await this.onBook?.(call.key);

    let answer: Kept;
    if (call.method === 'GET') {
      const state = this.#books.get(`${call.org} ${path.slice('/record/'.length)}`);
      answer = state ? { status: 200, body: JSON.stringify({ state }) } : { status: 404, body: '{}' };
    } else {
      const status = step.status ?? 200;
      const kept = this.ignoresKeysAt.has(path) ? undefined : this.#kept.get(`${call.org} ${path} ${call.key}`);
      answer = kept ?? { status, body: path === '/book' ? JSON.stringify({ booking_id: `b${call.sequence}` }) : '{}' };
      if (!kept && (step.applies ?? (status >= 200 && status < 300))) {
        this.#apply(call.org, path, call.body);
        entry.applied();
        this.#kept.set(`${call.org} ${path} ${call.key}`, answer);
      }
    }
    await this.#finish(response, step, answer);
  }

  #apply(org: string, path: string, body: Buffer): void {
    const { ref } = JSON.parse(body.toString('utf8') || '{}') as { ref?: unknown };
    if (typeof ref === 'string') this.#books.set(`${org} ${ref}`, path === '/book' ? 'booked' : 'cancelled');
  }

  async #finish(response: ServerResponse, step: Step, answer: Kept): Promise<void> {
    const { signal } = this.#closing;
    if (step.delayMs !== undefined) await sleep(step.delayMs, undefined, { signal });
    await step.until;
    if (step.ends === 'hang') return;
    if (step.ends === 'reset') return void response.socket?.resetAndDestroy();
    if (step.ends === 'garbage') return void response.socket?.end('220 this is no HTTP\r\n\r\n');
    const headers = typeof step.headers === 'function' ? step.headers() : step.headers;
    response.writeHead(step.status ?? answer.status, { 'content-type': 'application/json', ...headers });
    if (step.ends === 'drip') {
      for (;;) {
        response.write(' ');
        await sleep(DRIP_MS, undefined, { signal });
        if (response.destroyed) return;
      }
    }
    response.end(step.body ?? answer.body);
  }
}
