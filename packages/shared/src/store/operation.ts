import type { Vault } from '../domain/vault.js';
import type { Statement, Tx } from './database.js';

/** Which session rows a statement needs locked: by their own id, or as the session of an effect. */
export type LockTarget = { readonly sessionId: string } | { readonly effectId: string };

/**
 * How many inputs of one org share a statement.
 *
 * `read` answers one result per input, in their order, or `'alone'` for an input that needs more than the shared
 * statement can do; that one then runs by itself.
 */
export interface BatchPlan<I, R> {
  /** Two inputs with the same key never share a statement. */
  key(input: I): string;
  lock(input: I): LockTarget;
  statements(orgId: string, inputs: readonly I[], vault: Vault): readonly Statement[];
  read(rows: readonly object[][], inputs: readonly I[], orgId: string, vault: Vault): readonly (R | 'alone')[];
}

/** One write of the product. It runs in a transaction of its own or, where it has a plan, in a shared one. */
export interface Operation<I, R> {
  readonly name: string;
  run(tx: Tx, orgId: string, input: I): Promise<R>;
  readonly batch?: BatchPlan<I, R>;
}

/** One operation with its input. */
export interface Step {
  readonly operation: Operation<unknown, unknown>;
  readonly input: unknown;
}

/** Something to be written beside the results of others; inputs of one org share its statements. */
export interface Write<I> {
  statements(orgId: string, inputs: readonly I[], vault: Vault): readonly Statement[];
}

export interface PendingWrite {
  readonly write: Write<unknown>;
  readonly input: unknown;
}
