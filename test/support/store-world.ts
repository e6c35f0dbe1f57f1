import { createHash, randomBytes } from 'node:crypto';
import { JsonText } from '@undolog/shared/domain/json-text';
import type { Fingerprint } from '@undolog/shared/domain/vault';
import type { Settlement } from '@undolog/shared/domain/verdict';
import type { WakeUp } from '@undolog/shared/domain/wake-up';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { createVault } from '@undolog/shared/runtime/vault';
import { claimEntry, type ClaimedEntry, type ClaimResult } from '@undolog/shared/store/claim-entries';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { createOrg } from '@undolog/shared/store/create-org';
import { openDatabase, type Database } from '@undolog/shared/store/database';
import { listDeadLetters } from '@undolog/shared/store/dead-letters';
import { failSession, type FailSession } from '@undolog/shared/store/fail-session';
import { GroupCommit } from '@undolog/shared/store/group-commit';
import { openAttempt, type OpenAttempt, type OpenResult } from '@undolog/shared/store/open-attempt';
import { openSession, type OpenSession } from '@undolog/shared/store/open-session';
import { putCompensation } from '@undolog/shared/store/put-compensation';
import { registerEffect, type RegisterEffect, type RegisterResult } from '@undolog/shared/store/register-effect';
import { retryDeadLetter, type RetryDeadLetter, type RetryResult } from '@undolog/shared/store/retry-dead-letter';
import { settleEntry, type SettleResult } from '@undolog/shared/store/settle-entries';
import { migratedDatabase } from './migrated-database.js';
import { recordStateMoves } from './state-moves.js';

export const json = (value: unknown): JsonText => new JsonText(JSON.stringify(value));
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export const DONE: Settlement = { kind: 'settled', state: 'compensated', proof: 'answered' };
export const REFUSED: Settlement = { kind: 'settled', state: 'failed', code: 'http_400' };
export const UNCONFIRMED: Settlement = { kind: 'settled', state: 'unconfirmed', code: 'outcome_unknown' };

type Executed = Extract<RegisterResult, { outcome: 'execute' }>;

/** One org of a fresh database, spoken to through the store's own operations. */
export class StoreWorld {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly orgId = uuidv7();

  constructor(database: Database) {
    this.database = database;
    this.commits = new GroupCommit(database, { maxFlightsPerOrg: 1, maxInputsPerFlight: 100 });
  }

  async open(more: Partial<OpenSession> = {}): Promise<string> {
    const sessionId = uuidv7();
    const result = await this.commits.submit(openSession, this.orgId, {
      sessionId,
      agentName: null,
      externalRunId: null,
      metadata: null,
      onCompensationFailure: 'halt',
      leaseSeconds: 900,
      maxAgeSeconds: 0,
      parent: null,
      bodyHash: hashOf('{}'),
      ...more,
    });
    if (result.outcome !== 'created') throw new Error(`session ${result.outcome}`);
    return sessionId;
  }

  register(sessionId: string, more: Partial<RegisterEffect> = {}): Promise<RegisterResult> {
    return this.commits.submit(registerEffect, this.orgId, {
      sessionId,
      effectId: uuidv7(),
      undoId: uuidv7(),
      toolName: 'book',
      effectClass: 'compensable',
      args: json({}),
      stepIndex: null,
      callId: null,
      callTimeoutMs: 0,
      fingerprint: null,
      traceparent: null,
      compensation: { fnName: 'cancel', version: '1', maxRetries: null, args: json({}), needsResult: false },
      ...more,
    });
  }

  /** A session with this many committed effects. */
  async run(effects: number, more: Partial<OpenSession> = {}): Promise<{ sessionId: string; undoIds: string[] }> {
    const sessionId = await this.open(more);
    const undoIds: string[] = [];
    for (let n = 0; n < effects; n++) {
      const effect = (await this.register(sessionId)) as Executed;
      await this.commits.submit(commitEffect, this.orgId, {
        effectId: effect.effectId,
        result: json({ n }),
        successorId: uuidv7(),
        deadLetterId: uuidv7(),
        actor: 'test',
      });
      undoIds.push(effect.undoId!);
    }
    return { sessionId, undoIds };
  }

  async fail(sessionId: string, more: Partial<FailSession> = {}): Promise<WakeUp | null> {
    const result = await this.commits.submit(failSession, this.orgId, {
      sessionId,
      reason: json('test'),
      kind: 'reported',
      effectId: null,
      actor: 'test',
      deadLetterId: uuidv7(),
      ...more,
    });
    return result.outcome === 'accepted' ? result.wake : null;
  }

  /** What a person does who retries the session's open dead letter. @returns false when it has none. */
  async retry(sessionId: string, more: Partial<RetryDeadLetter> = {}): Promise<RetryResult | false> {
    const page = { state: 'open', sessionIds: [sessionId], limit: 1 } as const;
    const [letter] = await listDeadLetters(this.database, this.orgId, page);
    if (!letter) return false;
    return this.commits.submit(retryDeadLetter, this.orgId, {
      deadLetterId: letter.dead_letter_id,
      ifVersion: null,
      actor: 'test',
      reason: null,
      nextLetterId: uuidv7(),
      undoId: null,
      args: null,
      version: null,
      successorId: uuidv7(),
      delayMs: 0,
      ...more,
    });
  }

  claim(sessionId: string, undoId: string, leaseMs = 6000): Promise<ClaimResult> {
    return this.commits.submit(claimEntry, this.orgId, { sessionId, undoId, leaseMs });
  }

  async mustClaim(sessionId: string, undoId: string, leaseMs = 6000): Promise<ClaimedEntry> {
    const result = await this.claim(sessionId, undoId, leaseMs);
    if (result.outcome !== 'claimed') throw new Error(`claim ${result.outcome}`);
    return result.entry;
  }

  /** A claim whose call is about to leave. */
  async mustTry(sessionId: string, undoId: string, leaseMs = 6000): Promise<ClaimedEntry> {
    const entry = await this.mustClaim(sessionId, undoId, leaseMs);
    if (entry.attemptOpen) return entry;
    const opened = await this.openAttempt(entry, { leaseMs });
    if (opened !== 'opened') throw new Error(`attempt ${opened}`);
    return entry;
  }

  /** Opens the attempt that the claim has left to the worker. */
  openAttempt(
    { sessionId, undoId, effectId, fence }: ClaimedEntry,
    more: Partial<OpenAttempt> = {},
  ): Promise<OpenResult> {
    const input = { sessionId, undoId, effectId, fence, leaseMs: 6000, found: null, ...more };
    return this.commits.submit(openAttempt, this.orgId, input);
  }

  settle({ sessionId, undoId, fence }: ClaimedEntry, settlement: Settlement): Promise<SettleResult> {
    const outcome = settlement.kind !== 'settled' || settlement.state === 'unconfirmed' ? 'unknown' : 'done';
    return this.commits.submit(settleEntry, this.orgId, {
      sessionId,
      undoId,
      fence,
      attempt: { status: 200, outcome, error: null, durationMs: 1 },
      settlement,
      deadLetterId: uuidv7(),
    });
  }

  fingerprint(text: string): Fingerprint {
    return this.database.vault.fingerprint(this.orgId, text);
  }

  async rows<R extends object>(text: string, ...values: unknown[]): Promise<R[]> {
    return this.database.query<R>({ text, values: [this.orgId, ...values] });
  }

  async stateOf(sessionId: string): Promise<string> {
    const sql = 'SELECT state FROM undolog_sessions WHERE org_id = $1 AND session_id = $2';
    const [row] = await this.rows<{ state: string }>(sql, sessionId);
    return row!.state;
  }

  async undoStates(sessionId: string): Promise<string[]> {
    const sql =
      'SELECT state FROM undolog_undo_stack WHERE org_id = $1 AND session_id = $2 ORDER BY stack_position DESC, generation DESC';
    return (await this.rows<{ state: string }>(sql, sessionId)).map((row) => row.state);
  }
}

/** A fresh database with the schema, one org and the compensation `cancel@1`; `close` drops it. */
export async function openStoreWorld(
  name: string,
): Promise<{ world: StoreWorld; url: string; close(): Promise<void> }> {
  const fresh = await migratedDatabase(name);
  const onError = (): void => undefined;
  const limits = { maxConnections: 8, connectTimeoutMs: 5000, queryTimeoutMs: 10_000 };
  const database = openDatabase({ url: fresh.url, vault: createVault(randomBytes(32)), ...limits, onError });
  await recordStateMoves(database);
  const world = new StoreWorld(database);
  const org = { orgId: world.orgId, name, keyId: uuidv7(), secretHash: randomBytes(32) };
  await database.transaction((tx) => createOrg(tx, org));
  await world.commits.submit(putCompensation, world.orgId, {
    fnName: 'cancel',
    version: '1',
    specText: '{}',
    maxRetries: 3,
    looksUp: false,
    fingerprint: world.fingerprint('cancel'),
  });
  return {
    world,
    url: fresh.url,
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}
