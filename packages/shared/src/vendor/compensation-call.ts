import { Agent } from 'undici';
import type { Compensation } from '../domain/compensation.js';
import { effectKey, undoKey } from '../domain/effect-key.js';
import { reachUnarmed, type Reach } from '../domain/failpoints.js';
import type { Exchange } from '../domain/verdict.js';
import type { EgressPolicy } from '../runtime/egress-policy.js';
import { NO_CREDENTIALS, type Credentials } from './credentials.js';
import { createEgressConnector } from './egress-connector.js';
import { exchange } from './exchange.js';
import { signatureHeaders } from './signature.js';

/** One undo entry on its way to its vendor. */
export interface UndoCall {
  readonly spec: Compensation;
  /** JSON text of the bound arguments: the body, and nothing else. */
  readonly body: string;
  readonly undoId: string;
  readonly sessionId: string;
  readonly effectId: string;
  readonly outcome: 'committed' | 'unknown';
  /** From 1, over all rounds. */
  readonly attempt: number;
  readonly traceparent: string;
}

export interface VendorClient {
  /** Sends the undo. */
  call(call: UndoCall, signal: AbortSignal): Promise<Exchange>;
  /** Asks the vendor's record, with the same headers; never counts as an attempt. */
  ask(url: string, call: UndoCall, timeoutMs: number, signal: AbortSignal): Promise<Exchange>;
  /** The same way out, for calls that carry these. */
  carrying(credentials: Credentials): VendorClient;
  close(): Promise<void>;
}

/** Longer than a pause between two unwinds of a busy vendor, shorter than most vendors keep a connection. */
const KEEP_ALIVE_MS = 4000;

/** UndoLog's own headers, then those of the compensation. */
function headersOf(call: UndoCall, body: string, { secrets, signingSecrets }: Credentials): string[] {
  const headers = [
    'content-type',
    'application/json',
    'idempotency-key',
    undoKey(call.undoId),
    'undolog-session-id',
    call.sessionId,
    'undolog-effect-id',
    call.effectId,
    'undolog-effect-key',
    effectKey(call.effectId),
    'undolog-effect-outcome',
    call.outcome,
    'undolog-attempt',
    String(call.attempt),
    'traceparent',
    call.traceparent,
    ...signatureHeaders(undoKey(call.undoId), body, signingSecrets),
  ];
  for (const [name, value] of Object.entries(call.spec.headers)) {
    const sent = typeof value === 'string' ? value : secrets.get(value.secret);
    if (sent === undefined) throw new Error('a call must not leave without the secrets that it names');
    headers.push(name, sent);
  }
  return headers;
}

/** The only way out of the process to a vendor; every connection passes the egress guard. */
export function createVendorClient(options: {
  readonly egress: EgressPolicy;
  readonly connectionsPerOrigin: number;
  readonly reach?: Reach;
}): VendorClient {
  const agent = new Agent({
    connect: createEgressConnector(options.egress),
    connections: options.connectionsPerOrigin,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Each request has one deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return clientOf(agent, NO_CREDENTIALS, options.reach ?? reachUnarmed);
}

function clientOf(agent: Agent, credentials: Credentials, reach: Reach): VendorClient {
  return {
    async call(call, signal) {
      reach('before_post');
      const answer = await exchange(agent, {
        url: new URL(call.spec.url),
        method: call.spec.method,
        headers: headersOf(call, call.body, credentials),
        body: call.body,
        timeoutMs: call.spec.timeout_ms,
        signal,
      });
      reach('after_answer');
      return answer;
    },
    ask: (url, call, timeoutMs, signal) =>
      exchange(agent, {
        url: new URL(url),
        method: 'GET',
        headers: headersOf(call, '', credentials),
        body: null,
        timeoutMs,
        signal,
      }),
    carrying: (others) => clientOf(agent, others, reach),
    close: () => agent.destroy(),
  };
}
