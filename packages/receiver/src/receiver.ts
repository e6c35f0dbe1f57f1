/**
 * The vendor's side of UndoLog: lets in what UndoLog has signed, and lets each Idempotency-Key take effect once.
 *
 * A key is absent → in flight → complete. `inTransaction` keeps "in flight" inside an open transaction, so that a crash
 * leaves it absent; `atLeastOnce` writes it down with a lease that is renewed, so that a crash is noticed when it ends.
 */
import { isFinal, problem, toFinal, toHttp, type FinalAnswer, type HandlerAnswer, type HttpAnswer } from './answer.js';
import { createVerifier } from './signature.js';
import { claimKey, completeKey, lockKey, releaseKey, renewClaim, type Claim, type KeyedCall } from './store/claims.js';
import { cancelForward, recordForward, type ForwardRecord } from './store/forwards.js';
import { inTransaction, type ConnectionPool, type PooledClient, type Queryable } from './store/postgres.js';
import { admit, type AdmittedCall, type RawRequest, type UndoCall } from './undo-call.js';

export { createTable } from './store/table.js';
export type { HandlerAnswer, HttpAnswer, RawRequest, UndoCall, ForwardRecord, ConnectionPool, PooledClient, Queryable };

export interface ReceiverOptions<Client extends PooledClient> {
  /** A `pg.Pool`, or what looks like one, of the database that has the tables of `createTable`. */
  readonly pool: ConnectionPool<Client>;
  /** Signing secrets (`whsec_…`), any of which may have signed: name the new and the old one while they rotate. */
  readonly secrets: readonly string[];
  /** Keeps apart what shares the tables, such as one customer from another. */
  readonly scope?: string;
  /** How long `atLeastOnce` waits for a handler of which nothing is heard any more. Default 10. */
  readonly leaseSeconds?: number;
  /** Told of what a handler or the database threw. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** One protected route; an adapter (`toExpress`, `toHono`, `toFetch`) makes it fit the server. */
export type Endpoint = (request: RawRequest) => Promise<HttpAnswer>;

type Answering = Promise<HandlerAnswer | void>;

export interface Receiver<Client extends PooledClient> {
  /**
   * For effects in the same Postgres: what the handler writes through `tx` and the completion of its key commit together,
   * so there is exactly one effect. An answer that asks for another try (5xx, 408, 409, 425, 429) rolls both back.
   */
  inTransaction<Args>(handler: (call: UndoCall<Args>, tx: Client) => Answering): Endpoint;
  /** For effects elsewhere: one handler per key at a time; one that crashed is followed by another with `takenOver`. */
  atLeastOnce<Args>(handler: (call: UndoCall<Args>) => Answering): Endpoint;
  /** To be asked by the call that may be undone later, in the transaction of its own effect. */
  recordForward(tx: Queryable, effectKey: string): Promise<ForwardRecord>;
  /** To be asked by the undo. `absent`: there is nothing to undo, and a forward call that is still to come is refused. */
  cancelForward(tx: Queryable, effectKey: string): Promise<'recorded' | 'absent'>;
}

const DEFAULT_LEASE_SECONDS = 10;
const SECOND_MS = 1000;
const RENEWALS_PER_LEASE = 3;
/** UndoLog waits no longer for an answer. A transaction that is idle for longer belongs to nobody. */
const IDLE_LIMIT_MS = 60_000;

/** The handler's own failure, as opposed to one of the barrier. */
class HandlerFailed extends Error {
  override readonly name = 'HandlerFailed';
}

async function handled(answering: () => Answering): Promise<FinalAnswer> {
  try {
    return toFinal(await answering());
  } catch (cause) {
    throw new HandlerFailed('the handler threw', { cause });
  }
}

export function createReceiver<Client extends PooledClient>(options: ReceiverOptions<Client>): Receiver<Client> {
  const { pool, scope = '', leaseSeconds = DEFAULT_LEASE_SECONDS, onError = console.error } = options;
  const verify = createVerifier(options.secrets);
  const leaseMs = leaseSeconds * SECOND_MS;
  // Half a lease: UndoLog's default of three retries then outlasts the lease of a handler that crashed.
  const inProgress = (): HttpAnswer => problem('in_progress', { retryAfterSeconds: Math.ceil(leaseSeconds / 2) });

  function answerTo(claim: Exclude<Claim, { kind: 'claimed' }>): HttpAnswer {
    switch (claim.kind) {
      case 'in_progress':
        return inProgress();
      case 'key_reused':
        return problem('key_reused');
      case 'complete':
        return toHttp(claim, { 'idempotent-replayed': 'true' });
      default:
        return claim satisfies never;
    }
  }

  function endpoint(carryOut: (admitted: AdmittedCall, keyed: KeyedCall) => Promise<HttpAnswer>): Endpoint {
    return async (request) => {
      try {
        const admission = await admit(request, verify);
        if ('refused' in admission) {
          if (admission.refused.status >= 500) onError(new Error(admission.refused.body!));
          return admission.refused;
        }
        const { call, bodySha256 } = admission;
        return await carryOut(admission, { scope, key: call.key, bodySha256 });
      } catch (error) {
        const ofHandler = error instanceof HandlerFailed;
        onError(ofHandler ? error.cause : error);
        return problem(ofHandler ? 'handler_failed' : 'unavailable');
      }
    };
  }

  return {
    inTransaction: <Args>(handler: (call: UndoCall<Args>, tx: Client) => Answering) =>
      endpoint(({ call }, keyed) =>
        inTransaction(pool, async (tx) => {
          if (!(await lockKey(tx, keyed, IDLE_LIMIT_MS))) return { commit: false, value: inProgress() };
          const claim = await claimKey(tx, keyed, leaseMs);
          if (claim.kind !== 'claimed') return { commit: false, value: answerTo(claim) };
          const answer = await handled(() => handler(call as UndoCall<Args>, tx));
          if (!isFinal(answer)) return { commit: false, value: toHttp(answer) };
          const commit = await completeKey(tx, keyed, claim.holder, answer);
          return { commit, value: commit ? toHttp(answer) : inProgress() };
        }),
      ),

    atLeastOnce: <Args>(handler: (call: UndoCall<Args>) => Answering) =>
      endpoint(async ({ call }, keyed) => {
        const claim = await claimKey(pool, keyed, leaseMs);
        if (claim.kind !== 'claimed') return answerTo(claim);
        const { holder, takenOver } = claim;
        const renewal = setInterval(() => {
          renewClaim(pool, keyed, holder, leaseMs).catch(onError);
        }, leaseMs / RENEWALS_PER_LEASE);
        let answer: FinalAnswer | undefined;
        try {
          answer = await handled(() => handler({ ...(call as UndoCall<Args>), takenOver }));
        } finally {
          clearInterval(renewal);
          // Where even that fails, the lease ends it.
          if (!answer || !isFinal(answer)) await releaseKey(pool, keyed, holder).catch(onError);
        }
        if (!isFinal(answer)) return toHttp(answer);
        // Frozen for longer than the lease: another call has the key, and its answer is the one to be kept.
        return (await completeKey(pool, keyed, holder, answer)) ? toHttp(answer) : inProgress();
      }),

    recordForward: (tx, effectKey) => recordForward(tx, scope, effectKey),
    cancelForward: (tx, effectKey) => cancelForward(tx, scope, effectKey),
  };
}
