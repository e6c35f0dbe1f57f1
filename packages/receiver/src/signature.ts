import { Webhook, WebhookVerificationError } from 'standardwebhooks';

export interface Signed {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** Why a call is not from UndoLog, in words; undefined: it is. */
export type Verifier = (signed: Signed, body: string) => string | undefined;

/**
 * Standard Webhooks: HMAC-SHA256 over id, timestamp and body, compared in constant time; the timestamp may be five
 * minutes off. Each secret is tried, so that a new one can be announced before the old one is dropped.
 */
export function createVerifier(secrets: readonly string[]): Verifier {
  if (secrets.length === 0) throw new TypeError('a receiver needs at least one signing secret (whsec_…)');
  const webhooks = secrets.map((secret) => new Webhook(secret));
  return ({ id, timestamp, signature }, body) => {
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    let fault: string | undefined;
    for (const webhook of webhooks) {
      try {
        webhook.verify(body, headers, { jsonParse: false });
        return undefined;
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) throw error;
        fault = error.message;
      }
    }
    return fault;
  };
}
