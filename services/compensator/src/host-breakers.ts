import {
  BREAKER_WINDOW_MS,
  countAnswers,
  stepBreaker,
  type BreakerEvent,
  type BreakerRules,
  type Pass,
} from '@undolog/shared/domain/breaker';
import { hostOf, type Compensation } from '@undolog/shared/domain/compensation';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import { changeBreaker } from '@undolog/shared/store/change-breaker';
import type { Database } from '@undolog/shared/store/database';
import { findOpenBreakers } from '@undolog/shared/store/read-breakers';
import type { Tried } from './call-vendor.js';
import type { VendorClient } from '@undolog/shared/vendor/compensation-call';
import { evidenceOf, watchHost } from './host-evidence.js';

/** How long a breaker that another process opened may stay unknown to this one. */
const REFRESH_MS = 1000;
/** Beyond the time-out of the call itself. */
const PROBE_MARGIN_MS = 5000;
const GO: Pass = { kind: 'go' };

export interface HostTry {
  readonly orgId: string;
  readonly spec: Compensation;
  readonly entry: Pick<ClaimedEntry, 'sessionId' | 'confirming'>;
  readonly client: VendorClient;
}

interface Question {
  readonly event: BreakerEvent;
  resolve(pass: Pass): void;
}

/** What this process keeps of one host of one org. */
interface Host {
  /** Tries that were answered and that Postgres has not been told of. */
  answers: number;
  answersSinceMs: number;
  waiting: Question[];
  asking: boolean;
}

function parked(attempt: NonNullable<Tried>['attempt'], delayMs: number): Tried {
  return { attempt, settlement: { kind: 'parked', delayMs, code: 'host_unavailable' } };
}

/**
 * Stands between the entries and their vendors' hosts: an entry whose host is down waits, and its budget with it.
 *
 * While all is well it only counts, in memory. Postgres is told of failures, and asked while a breaker is not closed;
 * questions about one host that come meanwhile go together. A breaker is never worth an entry: where Postgres does not
 * answer, the try goes on as if there were none.
 */
export class HostBreakers {
  readonly #database: Database;
  readonly #rules: BreakerRules;
  readonly #onError: (error: Error) => void;
  readonly #hosts = new Map<string, Host>();
  readonly #timer: NodeJS.Timeout | undefined;
  #open: ReadonlySet<string> = new Set();

  constructor(database: Database, rules: BreakerRules, onError: (error: Error) => void) {
    this.#database = database;
    this.#rules = rules;
    this.#onError = onError;
    if (rules.minSessions === 0) return;
    this.#timer = setInterval(() => void this.#refresh().catch(onError), REFRESH_MS);
    this.#timer.unref();
  }

  /** Runs a step, unless its host is known to be down; parks the entry when the step has shown that it is. */
  async guard({ orgId, spec, entry, client }: HostTry, run: (client: VendorClient) => Promise<Tried>): Promise<Tried> {
    // Once the vendor has said "done", nothing is left but to ask its record, and the time for that runs.
    if (this.#rules.minSessions === 0 || !spec.wait_out_outages || entry.confirming) return run(client);
    const { sessionId } = entry;
    const host = hostOf(spec);
    const key = `${orgId} ${host}`;
    const leaseMs = spec.timeout_ms + PROBE_MARGIN_MS;
    const pass = this.#open.has(key) ? await this.#ask(orgId, host, { kind: 'ask', leaseMs }) : GO;
    if (pass.kind === 'wait') return parked(null, pass.waitMs);
    const probe = pass.kind === 'probe';
    const watched = watchHost(client, host);
    const tried = await run(watched.client);
    const evidence = evidenceOf(tried, watched.lastAskFailed());
    switch (evidence) {
      case 'answered':
        if (probe) await this.#ask(orgId, host, { kind: 'answered' });
        else this.#countAnswer(key);
        return tried;
      case 'none':
        if (probe) await this.#ask(orgId, host, { kind: 'not_called' });
        return tried;
      case 'failed':
        return this.#judgeFailed(tried, await this.#ask(orgId, host, { kind: 'failed', sessionId, probe }));
      default:
        return evidence satisfies never;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** What the vendor's record has shown stands, whatever the call met; who was asked to wait longer waits longer. */
  #judgeFailed(tried: Tried, pass: Pass): Tried {
    if (pass.kind !== 'wait' || !tried) return tried;
    const { attempt, settlement } = tried;
    if (settlement.kind === 'settled' && (settlement.state !== 'unconfirmed' || settlement.code === 'undo_failed')) {
      return tried;
    }
    const ownDelayMs = settlement.kind === 'settled' ? 0 : settlement.delayMs;
    return parked(attempt, Math.max(pass.waitMs, ownDelayMs));
  }

  #hostOf(key: string): Host {
    const host = this.#hosts.get(key) ?? { answers: 0, answersSinceMs: monotonicMs(), waiting: [], asking: false };
    this.#hosts.set(key, host);
    return host;
  }

  #countAnswer(key: string): void {
    const host = this.#hostOf(key);
    const now = monotonicMs();
    if (now - host.answersSinceMs > BREAKER_WINDOW_MS) Object.assign(host, { answers: 0, answersSinceMs: now });
    host.answers++;
  }

  #ask(orgId: string, name: string, event: BreakerEvent): Promise<Pass> {
    const host = this.#hostOf(`${orgId} ${name}`);
    return new Promise((resolve) => {
      host.waiting.push({ event, resolve });
      if (!host.asking) void this.#askAll(orgId, name, host);
    });
  }

  async #askAll(orgId: string, name: string, host: Host): Promise<void> {
    host.asking = true;
    while (host.waiting.length > 0) {
      const questions = host.waiting;
      host.waiting = [];
      const passes = await this.#change(orgId, name, host, questions).catch((error: unknown) => {
        this.#onError(error as Error);
        return questions.map(() => GO);
      });
      for (const [index, { resolve }] of questions.entries()) resolve(passes[index]!);
    }
    host.asking = false;
  }

  async #change(orgId: string, name: string, host: Host, questions: readonly Question[]): Promise<Pass[]> {
    const { answers } = host;
    Object.assign(host, { answers: 0, answersSinceMs: monotonicMs() });
    let passes: Pass[] = [];
    const { state } = await changeBreaker(this.#database, orgId, name, (kept, nowMs) => {
      let breaker = countAnswers(kept, answers, nowMs);
      // Postgres may have this done anew after a conflict.
      passes = [];
      for (const { event } of questions) {
        const step = stepBreaker(breaker, event, nowMs, this.#rules);
        breaker = step.breaker;
        passes.push(step.pass);
      }
      return breaker;
    });
    this.#know(`${orgId} ${name}`, state !== 'closed');
    return passes;
  }

  #know(key: string, isOpen: boolean): void {
    const open = new Set(this.#open);
    if (isOpen) open.add(key);
    else open.delete(key);
    this.#open = open;
  }

  async #refresh(): Promise<void> {
    const rows = await findOpenBreakers(this.#database);
    this.#open = new Set(rows.map(({ org_id: orgId, host }) => `${orgId} ${host}`));
  }
}
