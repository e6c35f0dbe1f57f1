/** What an org can be alerted of; the words are actions of the audit log. */
export const ALERT_EVENTS = [
  'session.halted',
  'undo.unconfirmed',
  'undo.deadline_near',
  'session.compensated',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** What is sent to try a webhook out. */
export const TEST_EVENT = 'webhook.test';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const WEBHOOK_STATES = ['enabled', 'disabled'] as const;
export const DISABLED_BECAUSE = ['gone', 'failing'] as const;
export type DisabledBecause = (typeof DISABLED_BECAUSE)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long after each failed try the next one comes; after the last, three days on, there is none. */
const WAITS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 14 * HOUR_MS, 20 * HOUR_MS, 22 * HOUR_MS]; // prettier-ignore

/** What became of one try of a delivery. */
export type AlertOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** The receiver wants no more, or has not answered for days: its webhook is disabled. */
  | { readonly kind: 'given_up'; readonly because: DisabledBecause };

/**
 * Judges an answer as Standard Webhooks does: 2xx is delivered, 410 means never again, anything else is tried later.
 *
 * @param status undefined: no answer.
 * @param attempts so far, this one included.
 * @param random from 0 up to but not including 1.
 */
export function judgeDelivery(status: number | undefined, attempts: number, random: number): AlertOutcome {
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'given_up', because: 'gone' };
  const waitMs = WAITS_MS[attempts - 1];
  if (waitMs === undefined) return { kind: 'given_up', because: 'failing' };
  // Receivers that fail together should not be called together.
  return { kind: 'retry', delayMs: Math.round(waitMs * (1 + 0.2 * random)) };
}
