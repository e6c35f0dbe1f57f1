import { setTimeout as sleep } from 'node:timers/promises';
import { HttpDriver } from './http-driver.js';
import { describeMachine, rounded } from './machine.js';
import type { CommonOptions } from './options.js';
import { startProduct } from './processes.js';
import { countCompensated, openSql } from './sql.js';
import { createTenant } from './tenant.js';
import { EventTripAgent } from './event-trip-agent.js';
import { legsOf, TripAgent } from './trip-agent.js';
import { startVendor, type Vendor } from './vendor.js';
import type { Workplace } from './workplace.js';

export interface TripOptions extends CommonOptions {
  readonly sessions: number;
  readonly concurrency: number;
  readonly compensators: number;
  /** 1: through `/v1/events`; 0: a request per step. */
  readonly events: number;
}

/** A trip has two bookings to undo. */
const DEPTH = 2;
const WARM_UP_SESSIONS = 100;
const POLL_MS = 20;
const STUCK_AFTER_MS = 60_000;

/**
 * Runs `total` sessions with at most `concurrency` of them not yet unwound. The vendor's record says how many are: one
 * cheap question per POLL_MS, whatever the number of sessions, so that waiting costs UndoLog nothing.
 */
async function runSessions(
  total: number,
  concurrency: number,
  vendor: Vendor,
  start: (index: number) => Promise<void>,
): Promise<void> {
  let [started, unwound, movedAt] = [0, 0, performance.now()];
  const faults: unknown[] = [];
  while (unwound < total) {
    while (started < total && started - unwound < concurrency) {
      start(started++).catch((error: unknown) => faults.push(error));
    }
    await sleep(POLL_MS);
    if (faults.length > 0) throw faults[0];
    const seen = (await vendor.stats()).unwound;
    if (seen !== unwound) [unwound, movedAt] = [seen, performance.now()];
    if (performance.now() - movedAt > STUCK_AFTER_MS) throw new Error(`stuck at ${unwound} of ${total} unwound`);
  }
}

/** The peers' job on UndoLog. @returns the result and whether it counts. */
export async function runTrip(
  workplace: Workplace,
  options: TripOptions,
): Promise<{ result: object; counts: boolean }> {
  const { sessions, concurrency, apis, compensators, events } = options;
  const driver = new HttpDriver();
  workplace.onLeave(() => driver.close());
  const vendor = await startVendor(workplace, driver, options.vendor);
  const product = await startProduct(workplace, options);
  await product.startCompensators(compensators);
  const legs = legsOf(DEPTH);
  const tenant = await createTenant(driver, product, vendor, legs);
  const sql = await openSql(workplace, product.databaseUrl);
  const scene = { driver, product, vendor, tenant, legs };
  const agent = events === 0 ? new TripAgent(scene) : new EventTripAgent(scene);

  async function untilUndoLogSaysSo(prefix: string, total: number): Promise<void> {
    const limit = AbortSignal.timeout(STUCK_AFTER_MS);
    while ((await countCompensated(sql, tenant.orgId, prefix)) < total) {
      if (limit.aborted) throw new Error('the vendor shows all unwound, and UndoLog does not');
      await sleep(POLL_MS);
    }
  }

  workplace.log(`warming up with ${WARM_UP_SESSIONS} sessions`);
  await runSessions(WARM_UP_SESSIONS, concurrency, vendor, (index) => agent.bookTrip(`warm-${index}`));
  await untilUndoLogSaysSo('warm-', WARM_UP_SESSIONS);
  await vendor.reset();

  workplace.log(`running ${sessions} sessions, ${concurrency} at a time`);
  const startedMs = performance.now();
  await runSessions(sessions, concurrency, vendor, (index) => agent.bookTrip(`trip-${index}`));
  await untilUndoLogSaysSo('trip-', sessions);
  const seconds = (performance.now() - startedMs) / 1000;

  const stats = await vendor.stats();
  product.assertAllRunning();
  const result = {
    bench: events === 0 ? 'trip' : 'trip through events',
    sessions,
    concurrency,
    apis,
    compensators,
    seconds: rounded(seconds, 2),
    sessionsPerSecond: rounded(sessions / seconds, 1),
    compensationsPerSecond: rounded((DEPTH * sessions) / seconds, 1),
    vendor: vendor.origin,
    ...stats,
    ...describeMachine(product.backends),
  };
  return { result, counts: stats.orphaned === 0 && stats.orderViolations === 0 && stats.unwound === sessions };
}
