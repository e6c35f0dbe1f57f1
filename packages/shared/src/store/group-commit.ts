import { DatabaseUnavailable, type Database, type Statement } from './database.js';
import { lockSessions } from './lock-sessions.js';
import type { BatchPlan, Operation } from './operation.js';

/** Several statements over one batch, in one transaction: what a flight holds per operation. */
interface Part {
  readonly operation: Operation<unknown, unknown>;
  readonly plan: BatchPlan<unknown, unknown>;
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly operation: Operation<unknown, unknown>;
  readonly input: unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Lane {
  waiting: Waiter[];
  flights: number;
  pumping: boolean;
}

export interface GroupCommitOptions {
  readonly maxFlightsPerOrg: number;
  readonly maxInputsPerFlight: number;
}

/**
 * Group commit: operations that arrive while an earlier transaction of their org is under way share the next one.
 *
 * A lane per org: waiting → in flight (lock, statements, COMMIT in one round trip) → answered. Alone, an operation
 * leaves at once; under load a transaction carries many. If a shared transaction fails for a reason of its contents,
 * each of its operations runs alone; if Postgres did not answer, all of them have an unknown outcome and are told so.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #options: GroupCommitOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<void>>();

  constructor(database: Database, options: GroupCommitOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** @throws {DatabaseUnavailable} when the outcome is unknown. */
  submit<I, R>(operation: Operation<I, R>, orgId: string, input: I): Promise<R> {
    if (!operation.batch) return this.#alone(operation, orgId, input);
    return new Promise<R>((resolve, reject) => {
      const lane = this.#lanes.get(orgId) ?? { waiting: [], flights: 0, pumping: false };
      this.#lanes.set(orgId, lane);
      lane.waiting.push({ operation, input, resolve, reject } as unknown as Waiter);
      this.#pumpSoon(orgId, lane);
    });
  }

  /** Resolves when everything that was submitted has been answered. */
  async drain(): Promise<void> {
    while (this.#running.size > 0 || this.#lanes.size > 0) {
      await Promise.all(this.#running);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #alone<I, R>(operation: Operation<I, R>, orgId: string, input: I): Promise<R> {
    return this.#database.transaction((tx) => operation.run(tx, orgId, input));
  }

  /** What arrives in the same turn of the event loop leaves together. */
  #pumpSoon(orgId: string, lane: Lane): void {
    if (lane.pumping || lane.flights >= this.#options.maxFlightsPerOrg) return;
    lane.pumping = true;
    setImmediate(() => {
      lane.pumping = false;
      this.#pump(orgId, lane);
    });
  }

  #pump(orgId: string, lane: Lane): void {
    while (lane.waiting.length > 0 && lane.flights < this.#options.maxFlightsPerOrg) {
      const parts = this.#takeParts(lane);
      lane.flights++;
      const flight = this.#fly(orgId, parts).finally(() => {
        lane.flights--;
        this.#running.delete(flight);
        if (lane.waiting.length > 0) this.#pumpSoon(orgId, lane);
        else if (lane.flights === 0 && !lane.pumping) this.#lanes.delete(orgId);
      });
      this.#running.add(flight);
    }
  }

  /** Takes what fits into one transaction; an input whose key is taken by an earlier one stays for the next. */
  #takeParts(lane: Lane): Part[] {
    const parts = new Map<string, Part>();
    const keys = new Set<string>();
    const left: Waiter[] = [];
    let taken = 0;
    for (const waiter of lane.waiting) {
      const plan = waiter.operation.batch!;
      const key = `${waiter.operation.name} ${plan.key(waiter.input)}`;
      if (taken === this.#options.maxInputsPerFlight || keys.has(key)) {
        left.push(waiter);
        continue;
      }
      keys.add(key);
      taken++;
      const part = parts.get(waiter.operation.name) ?? { operation: waiter.operation, plan, waiters: [] };
      part.waiters.push(waiter);
      parts.set(waiter.operation.name, part);
    }
    lane.waiting = left;
    return [...parts.values()];
  }

  async #fly(orgId: string, parts: readonly Part[]): Promise<void> {
    let statements: (readonly Statement[])[];
    let rows: object[][];
    try {
      statements = parts.map(({ plan, waiters }) =>
        plan.statements(
          orgId,
          waiters.map((waiter) => waiter.input),
          this.#database.vault,
        ),
      );
      const targets = parts.flatMap(({ plan, waiters }) => waiters.map((waiter) => plan.lock(waiter.input)));
      rows = await this.#database.flight([lockSessions(orgId, targets), ...statements.flat()]);
    } catch (error) {
      const waiters = parts.flatMap((part) => part.waiters);
      if (error instanceof DatabaseUnavailable) for (const waiter of waiters) waiter.reject(error);
      else for (const waiter of waiters) this.#answerAlone(orgId, waiter);
      return;
    }
    // Committed: whatever goes wrong from here on, nothing may run a second time.
    let next = 1;
    for (const [index, part] of parts.entries()) {
      const end = next + statements[index]!.length;
      this.#answer(orgId, part, rows.slice(next, end));
      next = end;
    }
  }

  #answer(orgId: string, { plan, waiters }: Part, rows: readonly object[][]): void {
    let results: readonly unknown[];
    try {
      results = plan.read(
        rows,
        waiters.map((waiter) => waiter.input),
        orgId,
        this.#database.vault,
      );
    } catch (error) {
      for (const waiter of waiters) waiter.reject(error);
      return;
    }
    for (const [index, waiter] of waiters.entries()) {
      const result = results[index];
      if (result === 'alone') this.#answerAlone(orgId, waiter);
      else waiter.resolve(result);
    }
  }

  #answerAlone(orgId: string, waiter: Waiter): void {
    const answered = this.#alone(waiter.operation, orgId, waiter.input)
      .then(waiter.resolve, waiter.reject)
      .finally(() => this.#running.delete(answered));
    this.#running.add(answered);
  }
}
