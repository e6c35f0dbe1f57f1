import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { sessionView } from '@undolog/shared/wire/sessions';
import type { registeredEffect } from '@undolog/shared/wire/effects';
import type { entryView } from '@undolog/shared/wire/undo-entries';
import type { deadLetterView } from '@undolog/shared/wire/dead-letters';
import { expect, vi } from 'vitest';
import type { z } from 'zod';
import { ledgerFaults, type VendorCall } from './vendor-ledger.js';
import type { VendorSimulator } from './vendor-simulator.js';

export type SessionShown = z.output<typeof sessionView>;
export type EntryShown = z.output<typeof entryView>;
export type DeadLetterShown = z.output<typeof deadLetterView>;
export type Registered = z.output<typeof registeredEffect>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly tookMs: number;
}

/** What differs from the default undo of a call, whose body is `{"ref"}`. */
interface Undo {
  readonly fn_name?: string;
  readonly max_retries?: number;
  readonly args?: unknown;
}

export function bodyOf<T = Record<string, unknown>>(answer: Answer): T {
  return JSON.parse(answer.text) as T;
}

const POLL_MS = 100;
const MAX_TRIES = 20;
const RETRY_MS = 500;
const REQUEST_LIMIT_MS = 15_000;

/** One org of a world, with its admin key. */
export class Org {
  readonly orgId: string;
  readonly apiKey: string;
  readonly vendor: VendorSimulator;
  readonly #url: () => string;
  readonly #registered = new Set<string>();

  constructor(url: () => string, vendor: VendorSimulator, orgId: string, apiKey: string) {
    this.#url = url;
    this.vendor = vendor;
    this.orgId = orgId;
    this.apiKey = apiKey;
  }

  /** @param body text as it is to be sent, or a value. */
  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const startedMs = performance.now();
    const response = await fetch(this.#url() + path, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, tookMs: performance.now() - startedMs };
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  async get<T>(path: string): Promise<T> {
    const answer = await this.request('GET', path);
    expect(answer.status, answer.text).toBe(200);
    return bodyOf<T>(answer);
  }

  /** Registers, once, the compensation that calls this path of the vendor in this way. @returns its `fn_name`. */
  async compensation(path: string, spec: object = {}): Promise<string> {
    const way = JSON.stringify(spec);
    const fnName = way === '{}' ? `undo ${path}` : `undo ${path} ${createHash('sha256').update(way).digest('hex')}`;
    if (this.#registered.has(fnName)) return fnName;
    const body = { url: this.vendor.url + path, headers: { 'x-test-org': this.orgId }, ...spec };
    const address = `/v1/compensations/${encodeURIComponent(fnName)}/1`;
    const answer = await this.settled(() => this.request('PUT', address, body));
    expect([200, 201], answer.text).toContain(answer.status);
    this.#registered.add(fnName);
    return fnName;
  }

  /**
   * A request that may be repeated, made as a careful client makes it: a machine under load may answer `unavailable`,
   * and the same request then finds out what became of it.
   */
  async settled(request: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await request();
      if (answer.status !== 503 || tries === MAX_TRIES) return answer;
      await sleep(RETRY_MS);
    }
  }

  async open(more: object = {}): Promise<AgentSession> {
    const body = { session_id: randomUUID(), ...more };
    const answer = await this.settled(() => this.post('/v1/sessions', body));
    expect([200, 201], answer.text).toContain(answer.status);
    return new AgentSession(this, bodyOf<SessionShown>(answer).session_id);
  }

  /** A session that has booked one thing per path, in this order, each to be undone at its path. */
  async booked(paths: readonly string[], options: { session?: object; spec?: object } = {}): Promise<AgentSession> {
    const session = await this.open(options.session);
    for (const path of paths) await session.book(path, {}, { fn_name: await this.compensation(path, options.spec) });
    return session;
  }

  async deadLetters(sessionId?: string): Promise<DeadLetterShown[]> {
    const filter = sessionId === undefined ? '' : `&session_id=${encodeURIComponent(sessionId)}`;
    return (await this.get<{ data: DeadLetterShown[] }>(`/v1/dead-letters?limit=200${filter}`)).data;
  }
}

/** An agent's run: registers each call, makes it, reports it. */
export class AgentSession {
  readonly org: Org;
  readonly id: string;
  /** The client's reference of each registered call, by effect id. */
  readonly refs = new Map<string, string>();
  #registrations = 0;

  constructor(org: Org, id: string) {
    this.org = org;
    this.id = id;
  }

  get path(): string {
    return `/v1/sessions/${encodeURIComponent(this.id)}`;
  }

  /** Registers a call whose undo is at `path`; by default the undo's body is `{"ref"}` of the args. */
  async register(path: string, more: object = {}, undo: Undo = {}): Promise<Registered> {
    const ref = this.#nextRef();
    const call = { call_id: randomUUID(), args: { ref }, ...more };
    const answer = await this.org.settled(() => this.tryRegister(path, call, undo));
    expect([200, 201], answer.text).toContain(answer.status);
    const registered = bodyOf<Registered>(answer);
    this.refs.set(registered.effect_id, ref);
    return registered;
  }

  /** One request to register, whatever its answer is. */
  async tryRegister(path: string, more: object = {}, undo: Undo = {}): Promise<Answer> {
    const fnName = undo.fn_name ?? (await this.org.compensation(path));
    return this.org.post(`${this.path}/effects`, {
      tool_name: 'book',
      ...('args' in more ? {} : { args: { ref: this.#nextRef() } }),
      effect_class: 'compensable',
      compensation: { version: '1', args: { ref: { $args: '/ref' } }, ...undo, fn_name: fnName },
      ...more,
    });
  }

  #nextRef(): string {
    return `${this.id}#${++this.#registrations}`;
  }

  /** The forward call, as an agent makes it once it was told `execute`. @returns the vendor's result. */
  async callVendor({ effect_id: effectId, idempotency_key: key }: Registered): Promise<unknown> {
    const response = await fetch(`${this.org.vendor.url}/book`, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'x-test-org': this.org.orgId, 'content-type': 'application/json' },
      body: JSON.stringify({ ref: this.refs.get(effectId) }),
    });
    return response.json();
  }

  commit(effectId: string, result?: unknown): Promise<Answer> {
    const body = result === undefined ? {} : { result };
    return this.org.settled(() => this.org.post(`/v1/effects/${effectId}/commit`, body));
  }

  /** Registered, called, reported. */
  async book(path: string, more: object = {}, undo: Undo = {}): Promise<Registered> {
    const registered = await this.register(path, more, undo);
    const result = await this.callVendor(registered);
    const answer = await this.commit(registered.effect_id, result);
    expect(answer.status, answer.text).toBe(200);
    return registered;
  }

  /** Registered and called, and the agent dies before it reports. */
  async bookUnreported(path: string, more: object = {}, undo: Undo = {}): Promise<Registered> {
    const registered = await this.register(path, more, undo);
    await this.callVendor(registered);
    return registered;
  }

  async fail(reason = 'a test ended it'): Promise<void> {
    const answer = await this.org.settled(() => this.org.post(`${this.path}/fail`, { reason }));
    expect(answer.status, answer.text).toBe(202);
  }

  /** What an operator does: acts on the session's open dead letter. */
  async act(action: 'retry' | 'skip' | 'resolve' | 'confirm', body: object = {}): Promise<Answer> {
    const open = (await this.org.deadLetters(this.id)).find((letter) => letter.state === 'open');
    expect(open, 'an open dead letter').toBeDefined();
    return this.org.settled(() => this.org.post(`/v1/dead-letters/${open!.dead_letter_id}/${action}`, body));
  }

  async retry(body: object = {}): Promise<void> {
    const answer = await this.act('retry', body);
    expect(answer.status, answer.text).toBe(202);
  }

  view(): Promise<SessionShown> {
    return this.org.get<SessionShown>(this.path);
  }

  async stack(): Promise<EntryShown[]> {
    return (await this.org.get<{ data: EntryShown[] }>(`${this.path}/stack`)).data;
  }

  /** Waits for the state; says what the session looked like when it does not come. */
  reaches(state: SessionShown['state'], withinMs = 25_000): Promise<SessionShown> {
    return vi.waitFor(
      async () => {
        const shown = await this.view();
        if (shown.state !== state) throw new Error(`${this.id} is not ${state}: ${JSON.stringify(shown)}`);
        return shown;
      },
      { timeout: withinMs, interval: POLL_MS },
    );
  }

  /** The undo calls that reached the vendor, oldest first. */
  undos(): VendorCall[] {
    return this.org.vendor.ledger.undosOf(this.id, this.org.orgId);
  }

  /** The questions about this session's records that reached the vendor. */
  questionsAbout(): VendorCall[] {
    return this.org.vendor.ledger.questionsOf(this.id);
  }

  /** Stack positions in the order in which the vendor was called, repeats included. */
  async calledPositions(): Promise<number[]> {
    const positions = await this.positions();
    return this.undos().map((call) => positions.get(call.key.replace(/^undo-/, '')) ?? -1);
  }

  /** What this session's undo calls broke of the promise; see `ledgerFaults`. */
  async faults(): Promise<string[]> {
    return ledgerFaults(this.undos(), await this.positions());
  }

  /** This session's bookings that still stand at the vendor, oldest first. */
  standing(): string[] {
    const mine = new Set(this.refs.values());
    return this.org.vendor.standing(this.org.orgId).filter((ref) => mine.has(ref));
  }

  private async positions(): Promise<Map<string, number>> {
    return new Map((await this.stack()).map((entry) => [entry.undo_id, entry.stack_position]));
  }
}
