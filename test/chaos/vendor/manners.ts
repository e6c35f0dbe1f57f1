/** How the vendor treats one call of an undo. */
export interface Manner {
  /** Whether its books change, if they have not under this key before. */
  readonly applies: boolean;
  /** It has forgotten the key, and does it again. */
  readonly forgets?: true;
  /** What it says of the undo, in its own view; `nothing` where no readable answer comes. */
  readonly says: 'done' | 'accepted' | 'refused' | 'later' | 'broken' | 'nothing';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly delayMs?: number;
  readonly ends?: 'reset' | 'hang' | 'drip' | 'garbage';
}

const DONE: Manner = { applies: true, says: 'done', status: 200 };
const REFUSED = { applies: false, says: 'refused' } as const;
const SILENT = { applies: false, says: 'nothing' } as const;
const DEADLY_CALLS = 4;

/** By name, for the n-th call under one key. What is odd at first is well later, unless it is odd for good. */
export const MANNERS = {
  ok: () => DONE,
  slow: () => ({ ...DONE, delayMs: 800 }),
  half_open: (call) => (call === 1 ? { ...SILENT, ends: 'hang' } : DONE),
  applies_then_drops: (call) => (call === 1 ? { ...SILENT, applies: true, ends: 'reset' } : DONE),
  in_progress: (call) => (call <= 2 ? { ...SILENT, says: 'later', status: 409 } : DONE),
  replayed_500: (call) => ({
    ...SILENT,
    says: 'broken',
    status: 500,
    body: '{"error":"of the first call"}',
    ...(call > 1 && { headers: { 'idempotent-replayed': 'true' } }),
  }),
  throttled: (call) => (call === 1 ? { ...SILENT, says: 'later', status: 429, headers: { 'retry-after': '1' } } : DONE),
  not_found: () => ({ ...DONE, status: 404 }),
  gone: () => ({ ...DONE, status: 410 }),
  refused: () => ({ ...REFUSED, status: 422 }),
  garbage: (call) => (call === 1 ? { ...SILENT, ends: 'garbage' } : DONE),
  error_body: () => ({ ...REFUSED, status: 200, body: '{"status":"error"}' }),
  accepted: () => ({ ...DONE, says: 'accepted', status: 202 }),
  confirmed: () => DONE,
  /** Says done, and its record shows that nothing was. */
  lying: () => ({ ...DONE, applies: false }),
  redirected: () => ({ ...REFUSED, status: 307, headers: { location: '/trap' } }),
  byte_a_second: (call) => (call === 1 ? { ...SILENT, ends: 'drip', status: 200 } : DONE),
  /** Whoever makes the call is killed for it. */
  deadly: (call) => (call <= DEADLY_CALLS ? { ...SILENT, ends: 'hang' } : DONE),
  /** Forgets its keys before the call is sent again, as after an outage of a day. */
  forgets_keys: (call) => (call === 1 ? { ...SILENT, applies: true, ends: 'reset' } : { ...DONE, forgets: true }),
  looked_up: () => DONE,
} as const satisfies Record<string, (call: number) => Manner>;

export type MannerName = keyof typeof MANNERS;

export function isManner(name: string): name is MannerName {
  return name in MANNERS;
}
