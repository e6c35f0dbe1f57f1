import { Agent } from 'undici';
import type { Exchange } from '../domain/verdict.js';
import type { EgressPolicy } from '../runtime/egress-policy.js';
import { createEgressConnector } from './egress-connector.js';
import { exchange } from './exchange.js';
import { signatureHeaders } from './signature.js';

export interface Alert {
  readonly url: string;
  readonly secret: string;
  /** The same on every try, so that a receiver knows a repeat. */
  readonly id: string;
  /** JSON text. */
  readonly body: string;
}

export interface AlertSender {
  send(alert: Alert, signal: AbortSignal): Promise<Exchange>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 15_000;

/** The way out for alerts: the same guard as for undos, and connections of its own. */
export function createAlertSender(egress: EgressPolicy): AlertSender {
  const agent = new Agent({
    connect: createEgressConnector(egress),
    connections: 4,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: ({ url, secret, id, body }, signal) =>
      exchange(agent, {
        url: new URL(url),
        method: 'POST',
        headers: ['content-type', 'application/json', ...signatureHeaders(id, body, [secret])],
        body,
        timeoutMs: TIMEOUT_MS,
        signal,
      }),
    close: () => agent.destroy(),
  };
}
