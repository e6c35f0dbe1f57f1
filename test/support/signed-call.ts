import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export const SIGNING_SECRET = `whsec_${Buffer.from('a secret of the receiver tests').toString('base64')}`;

/** A compensation call as UndoLog makes it, signed by hand. */
export interface SignedCall {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** @param more `at`: when it was signed; `signedId`: what is signed where the key should be. */
export function signedCall(
  more: { key?: string; body?: unknown; effectKey?: string; secret?: string; at?: Date; signedId?: string } = {},
): SignedCall {
  const { key = `undo-${randomUUID()}`, effectKey = `effect-${randomUUID()}`, secret = SIGNING_SECRET } = more;
  const { at = new Date(), signedId = key } = more;
  const body = typeof more.body === 'string' ? more.body : JSON.stringify(more.body ?? { booking_id: 'b1' });
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': key,
      'undolog-session-id': 'a session',
      'undolog-effect-id': effectKey.replace(/^effect-/, ''),
      'undolog-effect-key': effectKey,
      'undolog-effect-outcome': 'committed',
      'undolog-attempt': '1',
      'webhook-id': signedId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(signedId, at, body),
    },
  };
}

export function send(url: string, { body, headers }: SignedCall): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers });
}
