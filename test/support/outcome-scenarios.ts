import type { OutcomeId } from '@undolog/shared/domain/outcomes';
import { expect, vi } from 'vitest';
import type { AgentSession } from './api-client.js';
import type { Step } from './vendor-simulator.js';
import type { World } from './world.js';

/** One way in which a row of the table of outcomes comes about, and what the vendor's ledger then shows. */
export interface Scenario {
  /** Of the compensation. */
  readonly spec?: object;
  /** Adds a `confirm` on the vendor's own record; an object changes it. */
  readonly confirm?: true | object;
  /** How the first calls are treated, and all after them. */
  readonly calls?: readonly Step[];
  readonly thenAlways?: Step;
  /** How every look at the record is treated. */
  readonly looks?: Step;
  readonly effect?: 'booked' | 'unreported' | 'never_called' | 'not_applied' | 'irreversible';
  readonly undoArgs?: object;
  /** Before the session fails. */
  readonly before?: (session: AgentSession) => unknown;
  /** While it unwinds. */
  readonly meanwhile?: (session: AgentSession) => Promise<unknown>;
  /** Where it differs from the row. */
  readonly code?: string;
  readonly reach: number;
  readonly applied: 0 | 1;
}

/** Where a row needs a world of its own, the test that plays it. */
type Elsewhere = `test/e2e/${string}.test.ts`;

const LATER = { timeout: 10_000 };
const once = { retry: { max_retries: 1, initial_ms: 20 } };
const impatient = { timeout_ms: 300, ...once };
/** Enough for a vendor that answers at once, however busy the machine; and what is longer than that. */
const PATIENCE_MS = 1500;
const outlasts: Step = { delayMs: 2 * PATIENCE_MS };
/** Retries come when a second is over, so that a key or a window of one second is. */
const slow = { retry: { max_retries: 1, initial_ms: 1100, multiplier: 1, jitter: 'none' } };
const refused = (status: number, body = '{}'): Step => ({ status, body });
const down = refused(503);
const marked: Step = { status: 503, headers: { 'idempotent-replayed': 'true' } };
const boom = '{"error":"boom 17"}';
const boomed = refused(500, boom);
const tells = (rule: object): object => ({ outcomes: { body: [rule] } });
const again = (...retry: number[]): object => ({ outcomes: { retry } });

/** How each row comes about. */
export function outcomeScenarios(world: World): Readonly<Record<OutcomeId, readonly Scenario[] | Elsewhere>> {
  const { vendor } = world;
  const cancelQuietly = ({ org, id }: AgentSession): void => vendor.cancelQuietly(org.orgId, `${id}#1`);
  /** Makes the effect an hour older. */
  const age = ({ id }: AgentSession) =>
    world.rows(
      `UPDATE undolog_effect_log SET committed_at = committed_at - interval '1 hour' WHERE session_id = $1`,
      id,
    );
  const lookup = (more: object = {}): object => ({
    lookup: { url: `${vendor.url}/record/{args.ref}`, absent_on_status: [404], settle_ms: 50, ...more },
  });
  return {
    done: [{ reach: 1, applied: 1 }],
    done_late: [{ calls: [{ delayMs: 400 }], reach: 1, applied: 1 }],
    done_garbled: [
      { calls: [{ body: '<html>done</html>' }], reach: 1, applied: 1 },
      { calls: [{ body: `{"status":"error","x":"${'x'.repeat(70_000)}"}` }], reach: 1, applied: 1 },
    ].map((one) => ({ ...one, spec: tells({ pointer: '/status', equals: 'error', is: 'permanent' }) }) as Scenario),
    done_listed: [404, 410, 409].map((status) => ({
      spec: { outcomes: { done: [404, 409, 410] } },
      calls: [{ status, applies: true }],
      reach: 1,
      applied: 1,
    })),
    done_by_code: [
      {
        spec: tells({ pointer: '/error/code', in: ['already_refunded', 'charge_already_refunded'], is: 'done' }),
        calls: [{ ...refused(400, '{"error":{"code":"charge_already_refunded"}}'), applies: true }],
        reach: 1,
        applied: 1,
      },
    ],
    done_confirmed: [{ confirm: true, reach: 1, applied: 1 }],
    done_not_confirmed: [{ confirm: { budget_ms: 300 }, calls: [{ applies: false }], reach: 1, applied: 0 }],
    done_undone: [
      {
        confirm: { failed_when: { pointer: '/state', equals: 'booked' } },
        calls: [{ applies: false, body: '{"status":"pending"}' }],
        reach: 1,
        applied: 0,
      },
    ],
    accepted: [{ calls: [{ status: 202 }], reach: 1, applied: 1 }],
    accepted_confirmed: [
      {
        confirm: { budget_ms: 20_000 },
        calls: [{ status: 202, applies: false }],
        async meanwhile(session) {
          await vi.waitFor(() => expect(session.questionsAbout()).not.toEqual([]), LATER);
          cancelQuietly(session);
        },
        reach: 1,
        applied: 0,
      },
    ],
    refused: [
      ...[400, 404, 408, 409, 410, 422, 425].map((status): Scenario => ({
        thenAlways: refused(status, '{"code":"in_progress"}'),
        code: `http_${status}`,
        reach: 1,
        applied: 0,
      })),
      // Where nothing is routed, everything is missing; the record knows better.
      { spec: { method: 'DELETE' }, confirm: true, thenAlways: refused(404), code: 'http_404', reach: 1, applied: 0 },
    ],
    refused_but_shown: [400, 404, 409, 410].map((status) => ({
      confirm: true,
      thenAlways: refused(status, '{"error":{"code":"charge_already_refunded"}}'),
      before: cancelQuietly,
      reach: 1,
      applied: 0,
    })),
    redirected: [302, 307].map((status) => ({
      thenAlways: { status, headers: { location: `${vendor.url}/elsewhere` } },
      code: `http_${status}`,
      reach: 1,
      applied: 0,
    })),
    refused_by_code: [
      {
        spec: tells({ pointer: '/status', equals: 'error', is: 'permanent' }),
        thenAlways: { status: 200, body: '{"status":"error"}', applies: false },
        reach: 1,
        applied: 0,
      },
    ],
    too_many: [{ thenAlways: refused(429), reach: 4, applied: 0 }],
    too_many_then_done: [{ calls: [{ status: 429, headers: { 'retry-after': '1' } }], reach: 2, applied: 1 }],
    in_progress: [
      {
        spec: { timeout_ms: PATIENCE_MS, ...again(409) },
        calls: [outlasts, refused(409, '{"code":"in_progress"}')],
        reach: 3,
        applied: 1,
      },
    ],
    url_not_allowed: [{ spec: { url: 'http://127.0.0.2:9/undo' }, reach: 0, applied: 0 }],
    error_permanent: [
      { spec: { outcomes: { permanent: [501] } }, thenAlways: refused(501), reach: 1, applied: 0 },
      {
        spec: tells({ pointer: '/code', equals: 'nothing_done', is: 'permanent' }),
        thenAlways: refused(501, '{"code":"nothing_done"}'),
        reach: 1,
        applied: 0,
      },
    ],
    error: [500, 501, 503].map((status) => ({
      thenAlways: refused(status, status === 500 ? '{}' : boom),
      code: `http_${status}`,
      reach: 4,
      applied: 0,
    })),
    error_but_shown: [{ confirm: true, calls: [{ ...down, applies: true }], reach: 1, applied: 1 }],
    error_then_refused: [{ calls: [down], thenAlways: refused(400), reach: 2, applied: 0 }],
    unknown_by_code: [
      {
        spec: { ...once, ...tells({ pointer: '/status', equals: 'dunno', is: 'unknown' }) },
        thenAlways: { status: 200, body: '{"status":"dunno"}', applies: false },
        reach: 2,
        applied: 0,
      },
    ],
    replayed: [
      { calls: [down], thenAlways: marked, reach: 2, applied: 0 },
      { thenAlways: { ...marked, headers: { 'idempotency-replayed': 'true' } }, reach: 1, applied: 0 },
      { spec: again(503), thenAlways: marked, reach: 1, applied: 0 },
    ],
    replayed_unmarked: [
      { thenAlways: boomed, reach: 2, applied: 0 },
      { spec: again(500), thenAlways: boomed, reach: 4, applied: 0 },
    ],
    replayed_but_shown: [{ confirm: true, thenAlways: { ...marked, applies: true }, reach: 1, applied: 1 }],
    silent: [{ spec: impatient, thenAlways: { ends: 'hang', applies: false }, reach: 2, applied: 0 }],
    trickling: [{ spec: impatient, thenAlways: { ends: 'drip', applies: false }, reach: 2, applied: 0 }],
    garbage: [{ spec: once, thenAlways: { ends: 'garbage', applies: false }, reach: 2, applied: 0 }],
    dropped: [{ calls: [{ ends: 'reset' }], reach: 2, applied: 1 }],
    outlasted: [{ spec: { timeout_ms: PATIENCE_MS }, calls: [outlasts], reach: 2, applied: 1 }],
    dropped_delete: [
      {
        spec: { method: 'DELETE' },
        confirm: true,
        calls: [{ ends: 'reset' }],
        thenAlways: refused(404),
        reach: 1,
        applied: 1,
      },
    ],
    unreachable: [{ spec: { url: 'http://127.0.0.1:9/undo', ...once }, reach: 0, applied: 0 }],
    worker_lost: 'test/e2e/worker-loss.test.ts',
    stalled: 'test/e2e/worker-loss.test.ts',
    found: [{ spec: lookup(), effect: 'unreported', reach: 1, applied: 1 }],
    absent: [{ spec: lookup(), effect: 'never_called', reach: 0, applied: 0 }],
    lookup_failed: [
      { spec: { ...once, ...lookup() }, effect: 'unreported', looks: refused(500), reach: 0, applied: 0 },
    ],
    assumed: [{ effect: 'unreported', reach: 1, applied: 1 }],
    missing_result: [{ undoArgs: { id: { $result: '/nothing' } }, reach: 0, applied: 0 }],
    not_applied: [{ effect: 'not_applied', reach: 0, applied: 0 }],
    irreversible: [{ effect: 'irreversible', reach: 0, applied: 0 }],
    key_expired: [
      { spec: { key_ttl_seconds: 1, ...slow }, thenAlways: down, reach: 1, applied: 0 },
      {
        spec: { key_ttl_seconds: 1, ...slow },
        confirm: true,
        thenAlways: down,
        looks: refused(500),
        reach: 1,
        applied: 0,
      },
    ],
    key_expired_shown: [
      {
        spec: { key_ttl_seconds: 1, ...slow },
        confirm: true,
        calls: [{ ...down, applies: true }],
        reach: 1,
        applied: 1,
      },
    ],
    key_expired_standing: [
      { spec: { key_ttl_seconds: 1, ...slow }, confirm: true, calls: [down], reach: 2, applied: 1 },
    ],
    window_passed: [
      { spec: { undo_deadline_seconds: 1000 }, before: age, reach: 0, applied: 0 },
      // A call that was refused has done nothing.
      {
        spec: { undo_deadline_seconds: 1000, ...slow },
        calls: [refused(429)],
        async meanwhile(session) {
          await vi.waitFor(() => expect(session.undos()).toHaveLength(1), LATER);
          await age(session);
        },
        reach: 1,
        applied: 0,
      },
    ],
    window_passed_unknown: [
      {
        spec: { undo_deadline_seconds: 1000, ...slow },
        thenAlways: down,
        async meanwhile(session) {
          await vi.waitFor(() => expect(session.undos()).toHaveLength(1), LATER);
          await age(session);
        },
        reach: 1,
        applied: 0,
      },
    ],
    paused: 'test/e2e/pause.test.ts',
    host_down: 'test/e2e/outage.test.ts',
    key_missing: 'test/e2e/encryption.test.ts',
    damaged: 'test/e2e/encryption.test.ts',
    secret_gone: 'test/e2e/secrets.test.ts',
  };
}
