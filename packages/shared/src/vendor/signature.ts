import { Webhook } from 'standardwebhooks';
import { nowDate } from '../runtime/clock.js';

/**
 * The headers of Standard Webhooks, names and values in turn: a signature per secret that is live, so that a receiver
 * may change over when it likes. `id` is the same on every try of an undo; the time is that of the try.
 */
export function signatureHeaders(id: string, body: string, secrets: readonly string[]): string[] {
  if (secrets.length === 0) return [];
  const at = nowDate();
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
  const seconds = Math.floor(at.getTime() / 1000);
  return ['webhook-id', id, 'webhook-timestamp', String(seconds), 'webhook-signature', signatures.join(' ')];
}
