import { DatabaseUnavailable, type Database, type Statement } from './database.js';
import { Flight, statementsOf, Unreadable, type Passenger } from './flight.js';
import type { Operation, PendingWrite, Step } from './operation.js';

/** Somebody who waits for what is committed: a single operation, or a run of several in their order. */
interface Waiter extends Passenger {
  /** Of a run: what is to be written in the same transaction, now that its results are known. */
  conclude?(results: readonly unknown[]): Promise<readonly PendingWrite[]>;
  answer(results: readonly unknown[]): void;
  /** Nothing of it was written; it has to be done by itself. */
  alone(): void;
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
  /** Told of each shared transaction that failed: with an unknown outcome, or because its operations must run apart. */
  readonly onFailure?: (kind: 'unavailable' | 'apart') => void;
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
    const runAlone = (): Promise<R> => this.#database.transaction((tx) => operation.run(tx, orgId, input));
    if (!operation.batch) return runAlone();
    return new Promise<R>((resolve, reject) => {
      this.#board(orgId, {
        steps: [{ operation, input } as Step],
        answer: ([result]) => resolve(result as R),
        alone: () => this.#track(runAlone().then(resolve, reject)),
        reject,
      });
    });
  }

  /**
   * Several operations, in their order, in one transaction that may carry others too; all of them have a batch plan.
   * `conclude` gets their results before the commit and says what is to be written beside.
   *
   * @returns whether that was committed; false: nothing was, and they have to be done in a transaction of their own.
   * @throws {DatabaseUnavailable} when the outcome is unknown.
   */
  submitRun(orgId: string, steps: readonly Step[], conclude: NonNullable<Waiter['conclude']>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#board(orgId, { steps, conclude, answer: () => resolve(true), alone: () => resolve(false), reject });
    });
  }

  /** Resolves when everything that was submitted has been answered. */
  async drain(): Promise<void> {
    while (this.#running.size > 0 || this.#lanes.size > 0) {
      await Promise.all(this.#running);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #board(orgId: string, waiter: Waiter): void {
    const lane = this.#lanes.get(orgId) ?? { waiting: [], flights: 0, pumping: false };
    this.#lanes.set(orgId, lane);
    lane.waiting.push(waiter);
    this.#pumpSoon(orgId, lane);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
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
      const waiters = this.#takeWaiters(lane);
      lane.flights++;
      this.#track(
        this.#fly(orgId, waiters).finally(() => {
          lane.flights--;
          if (lane.waiting.length > 0) this.#pumpSoon(orgId, lane);
          else if (lane.flights === 0 && !lane.pumping) this.#lanes.delete(orgId);
        }),
      );
    }
  }

  /** Takes what fits into one transaction; one whose key is taken by an earlier one stays for the next. */
  #takeWaiters(lane: Lane): Waiter[] {
    const taken: Waiter[] = [];
    const left: Waiter[] = [];
    const keys = new Set<string>();
    let room = this.#options.maxInputsPerFlight;
    for (const waiter of lane.waiting) {
      const own = waiter.steps.map(({ operation, input }) => `${operation.name} ${operation.batch!.key(input)}`);
      const fits = taken.length === 0 || (own.length <= room && !own.some((key) => keys.has(key)));
      if (!fits) {
        left.push(waiter);
        continue;
      }
      for (const key of own) keys.add(key);
      room -= own.length;
      taken.push(waiter);
    }
    lane.waiting = left;
    return taken;
  }

  async #fly(orgId: string, waiters: readonly Waiter[]): Promise<void> {
    let results: Map<Waiter, readonly unknown[]> | undefined;
    try {
      results = await this.#commit(orgId, waiters);
    } catch (error) {
      const unknown = error instanceof DatabaseUnavailable;
      this.#options.onFailure?.(unknown ? 'unavailable' : 'apart');
      if (unknown) return waiters.forEach((waiter) => waiter.reject(error));
    }
    // Not committed: each does by itself what it can. Committed: nothing may run a second time.
    if (!results) return waiters.forEach((waiter) => waiter.alone());
    for (const [waiter, own] of results) answer(waiter, own);
  }

  /** @returns the results of what was committed; undefined: nothing was, as a run needs more than shared statements. */
  async #commit(orgId: string, waiters: readonly Waiter[]): Promise<Map<Waiter, readonly unknown[]> | undefined> {
    const { vault } = this.#database;
    const flight = new Flight(orgId, waiters, vault);
    const runs = waiters.filter((waiter) => waiter.conclude);
    if (runs.length === 0) return flight.read(await this.#database.flight(flight.statements));
    let results: Map<Waiter, readonly unknown[]> | undefined;
    const committed = await this.#database.flightInTwo(
      flight.statements,
      async (rows): Promise<Statement[] | undefined> => {
        // The transaction is being tried again, and the runs were concluded already: what they were told no longer holds.
        if (results) return undefined;
        results = flight.read(rows);
        const known = runs.map((run) => results!.get(run)!);
        if (known.flat().some((result) => result === 'alone' || result instanceof Unreadable)) return undefined;
        const writes = await Promise.all(runs.map((run, index) => run.conclude!(known[index]!)));
        return statementsOf(orgId, writes.flat(), vault);
      },
    );
    return committed && results;
  }
}

function answer(waiter: Waiter, results: readonly unknown[]): void {
  const unreadable = results.find((result) => result instanceof Unreadable);
  if (unreadable) waiter.reject(unreadable.error);
  else if (results.includes('alone')) waiter.alone();
  else waiter.answer(results);
}
