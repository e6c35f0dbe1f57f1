import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import { renewClaim } from '@undolog/shared/store/renew-claim';

/** A worker that is lost is replaced this long after its last renewal. */
export const CLAIM_LEASE_MS = 4000;
const RENEW_EVERY_MS = 1000;
/** Past this age a claim is no longer taken on trust: Postgres is asked before a call leaves. */
const TRUSTED_MS = 2000;

export interface HeldClaim {
  readonly orgId: string;
  readonly sessionId: string;
  readonly undoId: string;
  readonly fence: number;
  /** By the clock that goes on while the process is frozen, from before the claim or its renewal was asked for. */
  renewedAtMs: number;
}

/**
 * The claims of the entries in hand: held → renewed while the call lasts → released when it is settled.
 *
 * A BullMQ lock is no fence. A process that was frozen past its lease would send a call that another worker has taken
 * over; so each call asks `stillHeld` just before it leaves.
 */
export class HeldClaims {
  readonly #commits: Pick<GroupCommit, 'submit'>;
  readonly #claims = new Map<string, HeldClaim>();
  readonly #timer: NodeJS.Timeout;

  constructor(commits: Pick<GroupCommit, 'submit'>, onError: (error: Error) => void) {
    this.#commits = commits;
    this.#timer = setInterval(() => {
      for (const claim of this.#old()) this.#renew(claim).catch(onError);
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
    return monotonicMs() - claim.renewedAtMs < TRUSTED_MS || this.#renew(claim);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Half an interval is old: a claim a little younger than a whole one would otherwise wait for nearly two. */
  #old(): HeldClaim[] {
    const now = monotonicMs();
    return [...this.#claims.values()].filter((claim) => now - claim.renewedAtMs >= RENEW_EVERY_MS / 2);
  }

  /** Renewals of the same moment share a statement, as all operations of one org do. */
  async #renew(claim: HeldClaim): Promise<boolean> {
    const { orgId, sessionId, undoId, fence } = claim;
    const askedAtMs = monotonicMs();
    const input = { sessionId, undoId, fence, leaseMs: CLAIM_LEASE_MS };
    const held = (await this.#commits.submit(renewClaim, orgId, input)) === 'held';
    if (held) claim.renewedAtMs = askedAtMs;
    return held;
  }
}
