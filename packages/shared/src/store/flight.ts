import type { Vault } from '../domain/vault.js';
import type { Statement } from './database.js';
import { lockSessions } from './lock-sessions.js';
import type { BatchPlan, PendingWrite, Step, Write } from './operation.js';

/** Steps of one operation that share its statements: at most one per passenger. */
interface Part<P> {
  readonly plan: BatchPlan<unknown, unknown>;
  readonly passengers: P[];
  readonly inputs: unknown[];
}

export interface Passenger {
  readonly steps: readonly Step[];
}

/** Steps of the same operation together, in the order in which the operations first come. */
function partsOf<P>(steps: Iterable<readonly [passenger: P, step: Step]>): Part<P>[] {
  const parts = new Map<string, Part<P>>();
  for (const [passenger, { operation, input }] of steps) {
    const part = parts.get(operation.name) ?? { plan: operation.batch!, passengers: [], inputs: [] };
    part.passengers.push(passenger);
    part.inputs.push(input);
    parts.set(operation.name, part);
  }
  return [...parts.values()];
}

/** Writes of the same kind share their statements. */
export function statementsOf(orgId: string, writes: readonly PendingWrite[], vault: Vault): Statement[] {
  const inputs = new Map<Write<unknown>, unknown[]>();
  for (const { write, input } of writes) inputs.set(write, [...(inputs.get(write) ?? []), input]);
  return [...inputs].flatMap(([write, of]) => write.statements(orgId, of, vault));
}

/**
 * One transaction's load: the sessions' locks, then the first step of every passenger, then the second of those that
 * have one, and so on. A passenger's own steps keep their order; what several do at one stage is done set by set.
 */
export class Flight<P extends Passenger> {
  readonly statements: readonly Statement[];
  readonly #orgId: string;
  readonly #vault: Vault;
  readonly #parts: { readonly part: Part<P>; readonly from: number; readonly to: number }[] = [];

  constructor(orgId: string, passengers: readonly P[], vault: Vault) {
    this.#orgId = orgId;
    this.#vault = vault;
    const steps = passengers.flatMap((passenger) => passenger.steps);
    const targets = steps.map(({ operation, input }) => operation.batch!.lock(input));
    const statements = [lockSessions(orgId, targets)];
    const stages = Math.max(...passengers.map((passenger) => passenger.steps.length));
    for (let stage = 0; stage < stages; stage++) {
      const aboard = passengers.filter((passenger) => stage < passenger.steps.length);
      for (const part of partsOf(aboard.map((passenger) => [passenger, passenger.steps[stage]!] as const))) {
        const from = statements.length;
        statements.push(...part.plan.statements(orgId, part.inputs, vault));
        this.#parts.push({ part, from, to: statements.length });
      }
    }
    this.statements = statements;
  }

  /** The results of each passenger, step by step. What can't be read is `Unreadable`. */
  read(rows: readonly object[][]): Map<P, readonly unknown[]> {
    const results = new Map<P, readonly unknown[]>();
    for (const { part, from, to } of this.#parts) {
      const { passengers, plan, inputs } = part;
      const read = readPart(() => plan.read(rows.slice(from, to), inputs, this.#orgId, this.#vault), inputs.length);
      for (const [index, passenger] of passengers.entries()) {
        results.set(passenger, [...(results.get(passenger) ?? []), read[index]]);
      }
    }
    return results;
  }
}

/** Stands for a result that Postgres gave and nobody could read. */
export class Unreadable {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function readPart(read: () => readonly unknown[], length: number): readonly unknown[] {
  try {
    return read();
  } catch (error) {
    return Array.from({ length }, () => new Unreadable(error));
  }
}
