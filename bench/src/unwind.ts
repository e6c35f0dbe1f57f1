import { setTimeout as sleep } from 'node:timers/promises';
import { measureBarePosts } from './bare-posts.js';
import { HttpDriver } from './http-driver.js';
import { describeMachine, rounded } from './machine.js';
import { inParallel } from './in-parallel.js';
import type { CommonOptions } from './options.js';
import { startProduct } from './processes.js';
import { fillSettledRows } from './settled-rows.js';
import { countCompensated, openSql } from './sql.js';
import { createTenant } from './tenant.js';
import { legsOf, TripAgent } from './trip-agent.js';
import { startVendor, type Vendor } from './vendor.js';
import type { Workplace } from './workplace.js';

export interface UnwindOptions extends CommonOptions {
  readonly sessions: number;
  readonly depth: number;
  readonly rows: number;
  readonly compensators: number;
}

const BACKLOG_CONCURRENCY = 64;
const BARE_MS = 4000;
const POLL_MS = 50;
const STUCK_AFTER_MS = 60_000;
/** The part of the backlog that warms the compensators up and is not measured. */
const WARM_UP_SHARE = 0.1;
/** Bare rates further apart than this tell of a machine that did something else besides. */
const STEADY_WITHIN = 1.25;

interface Mark {
  readonly cancels: number;
  readonly atMs: number;
}

/**
 * Watches the vendor's record until it shows `total` cancellations more than `earlier`; returns the rate after the
 * warm-up, per second.
 */
async function watchDrain(vendor: Vendor, earlier: number, total: number): Promise<number> {
  let from: Mark | undefined;
  let last: Mark = { cancels: 0, atMs: performance.now() };
  while (last.cancels < total) {
    await sleep(POLL_MS);
    const cancels = (await vendor.stats()).cancels - earlier;
    const atMs = performance.now();
    if (cancels > last.cancels) last = { cancels, atMs };
    else if (atMs - last.atMs > STUCK_AFTER_MS) throw new Error(`stuck at ${cancels} of ${total} cancellations`);
    if (cancels >= total * WARM_UP_SHARE) from ??= last;
  }
  if (!from || from.cancels >= last.cancels)
    throw new Error('the backlog is too small to be measured; raise --sessions');
  return (last.cancels - from.cancels) / ((last.atMs - from.atMs) / 1000);
}

/** Drains a backlog of failed sessions, beside the rate of bare POSTs. @returns the result and whether it counts. */
export async function runUnwind(
  workplace: Workplace,
  options: UnwindOptions,
): Promise<{ result: object; counts: boolean }> {
  const { sessions, depth, rows, compensators } = options;
  const driver = new HttpDriver();
  workplace.onLeave(() => driver.close());
  const vendor = await startVendor(workplace, driver, options.vendor);
  const product = await startProduct(workplace, options);
  const legs = legsOf(depth);
  const tenant = await createTenant(driver, product, vendor, legs);
  const sql = await openSql(workplace, product.databaseUrl);
  if (rows > 0) {
    workplace.log(`filling the tables with ${rows} settled entries`);
    await fillSettledRows(sql, tenant.orgId, rows);
  }
  workplace.log(`building a backlog of ${sessions} failed sessions, ${depth} entries each`);
  const agent = new TripAgent({ driver, product, vendor, tenant, legs });
  await inParallel(sessions, BACKLOG_CONCURRENCY, (index) => agent.bookTrip(`trip-${index}`));

  // Before and after the drain, because a shared machine is not the same from one minute to the next.
  workplace.log('bare POSTs');
  const before = await measureBarePosts(workplace, `${vendor.url}/cancel/hotel`, BARE_MS);
  const { cancels: earlier } = await vendor.stats();
  const drain = watchDrain(vendor, earlier, sessions * depth);
  const [perSecond] = await Promise.all([drain, product.startCompensators(compensators)]);
  for (let waits = 0; (await countCompensated(sql, tenant.orgId, 'trip-')) < sessions; waits += 1) {
    if (waits * POLL_MS > STUCK_AFTER_MS) throw new Error('the vendor shows all unwound, and UndoLog does not');
    await sleep(POLL_MS);
  }
  const stats = await vendor.stats();
  product.assertAllRunning();
  workplace.log('bare POSTs');
  const after = await measureBarePosts(workplace, `${vendor.url}/cancel/hotel`, BARE_MS);

  if (Math.max(before, after) > STEADY_WITHIN * Math.min(before, after)) {
    workplace.log('the bare rate was not the same before and after: this machine is busy, and the ratio means little');
  }
  const bare = (before + after) / 2;
  const result = {
    bench: 'unwind',
    sessions,
    depth,
    settledRows: rows,
    compensators,
    compensationsPerSecond: rounded(perSecond, 1),
    barePostsPerSecond: rounded(bare, 1),
    barePostsBeforeAndAfter: [rounded(before, 1), rounded(after, 1)],
    ratio: rounded(perSecond / bare, 3),
    vendor: vendor.origin,
    ...stats,
    cancels: stats.cancels - earlier,
    ...describeMachine(product.backends),
  };
  const counts = stats.orphaned === 0 && stats.orderViolations === 0 && stats.unwound === sessions;
  return { result, counts };
}
