import { DatabaseUnavailable, type Database } from '@undolog/shared/store/database';
import { renewClaims } from '@undolog/shared/store/renew-claims';
import { monotonicMs } from '@undolog/shared/runtime/clock';

/** A worker that is lost is replaced this long after its last renewal. */
export const CLAIM_LEASE_MS = 6000;
const RENEW_EVERY_MS = 2000;
/** Past this age a claim is no longer taken on trust: Postgres is asked before a call leaves. */
const TRUSTED_MS = 3000;

export interface HeldClaim {
  readonly orgId: string;
  readonly undoId: string;
  readonly fence: number;
  /** By the clock that goes on while the process is frozen, from before the claim or its renewal was asked for. */
  renewedAtMs: number;
}

/** Waits for all of them, whatever becomes of one, and then tells of the first that failed. */
async function toTheEnd(works: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * The claims of the entries in hand: held → renewed while the call lasts → released when it is settled.
 *
 * A BullMQ lock is no fence. A process that was frozen past its lease would send a call that another worker has taken
 * over; so each call asks `stillHeld` just before it leaves.
 */
export class HeldClaims {
  readonly #database: Database;
  readonly #claims = new Map<string, HeldClaim>();
  readonly #timer: NodeJS.Timeout;

  constructor(database: Database, onError: (error: Error) => void) {
    this.#database = database;
    this.#timer = setInterval(() => {
      this.#renewOld().catch(onError);
    }, RENEW_EVERY_MS);
    this.#timer.unref();
  }

  hold(claim: HeldClaim): void {
    this.#claims.set(claim.undoId, claim);
  }

  release(claim: HeldClaim): void {
    if (this.#claims.get(claim.undoId) === claim) this.#claims.delete(claim.undoId);
  }

  /** Whether the fence is still ours: from memory while the claim is young, else from Postgres. */
  async stillHeld(claim: HeldClaim): Promise<boolean> {
    if (monotonicMs() - claim.renewedAtMs < TRUSTED_MS) return true;
    return (await this.#renew([claim])).has(claim.undoId);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renewOld(): Promise<void> {
    const now = monotonicMs();
    // Half: a claim that is a little younger than the interval would otherwise wait for nearly two of them.
    const old = [...this.#claims.values()].filter((claim) => now - claim.renewedAtMs >= RENEW_EVERY_MS / 2);
    const byOrg = new Map<string, HeldClaim[]>();
    for (const claim of old) {
      const others = byOrg.get(claim.orgId);
      if (others) others.push(claim);
      else byOrg.set(claim.orgId, [claim]);
    }
    await toTheEnd([...byOrg.values()].map((claims) => this.#renewTogether(claims)));
  }

  /** The claims of one org in one statement, and each alone if that fails: one row must not cost the others theirs. */
  async #renewTogether(claims: readonly HeldClaim[]): Promise<void> {
    try {
      await this.#renew(claims);
    } catch (error) {
      if (claims.length === 1 || error instanceof DatabaseUnavailable) throw error;
      await toTheEnd(claims.map((claim) => this.#renew([claim])));
    }
  }

  async #renew(claims: readonly HeldClaim[]): Promise<Set<string>> {
    const askedAtMs = monotonicMs();
    const held = await renewClaims(this.#database, claims, CLAIM_LEASE_MS);
    for (const claim of claims) if (held.has(claim.undoId)) claim.renewedAtMs = askedAtMs;
    return held;
  }
}
