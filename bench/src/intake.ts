import { HttpDriver } from './http-driver.js';
import { describeMachine, rounded } from './machine.js';
import type { CommonOptions } from './options.js';
import { measurePgbench } from './pgbench.js';
import { startProduct } from './processes.js';
import { Registrations } from './registrations.js';
import { openSql } from './sql.js';
import { createTenant } from './tenant.js';
import { startVendor } from './vendor.js';
import type { Workplace } from './workplace.js';

export interface IntakeOptions extends CommonOptions {
  readonly registrations: number;
  readonly concurrency: number;
  /** Registrations per second of the run at a fixed rate. */
  readonly rate: number;
  readonly pgbenchClients: number;
}

const LEG = 'flight';
const WARM_UP_REGISTRATIONS = 2000;
const FIXED_RATE_SECONDS = 10;
const PGBENCH_SECONDS = 8;

/** Registers effects through the HTTP interface, beside the same two inserts under pgbench. */
export async function runIntake(
  workplace: Workplace,
  options: IntakeOptions,
): Promise<{ result: object; counts: boolean }> {
  const { registrations, concurrency, rate, apis, pgbenchClients } = options;
  const driver = new HttpDriver();
  workplace.onLeave(() => driver.close());
  const vendor = await startVendor(workplace, driver, options.vendor);
  const product = await startProduct(workplace, options);
  const tenant = await createTenant(driver, product, vendor, [LEG]);
  const sql = await openSql(workplace, product.databaseUrl);
  const intake = new Registrations({ driver, product, tenant, leg: LEG });

  workplace.log(`warming up with ${WARM_UP_REGISTRATIONS} registrations`);
  await intake.closedLoop('warm', WARM_UP_REGISTRATIONS, concurrency);
  workplace.log(`${registrations} registrations, ${concurrency} at a time`);
  const closed = await intake.closedLoop('closed', registrations, concurrency);
  workplace.log(`${rate} registrations per second for ${FIXED_RATE_SECONDS} s`);
  const open = await intake.openLoop('open', rate * FIXED_RATE_SECONDS, rate);
  workplace.log(`the same two inserts under pgbench, ${pgbenchClients} clients for ${PGBENCH_SECONDS} s`);
  const { databaseUrl } = product;
  const load = { databaseUrl, orgId: tenant.orgId, clients: pgbenchClients, seconds: PGBENCH_SECONDS };
  const bare = await measurePgbench(workplace, sql, load);
  product.assertAllRunning();
  if (bare === undefined) workplace.log('there is no pgbench here, hence no ratio');

  const result = {
    bench: 'intake',
    registrations,
    concurrency,
    apis,
    registrationsPerSecond: rounded(closed.perSecond, 1),
    latencyMs: closed.latencyMs,
    fixedRate: { perSecond: rounded(open.perSecond, 1), latencyMs: open.latencyMs },
    pgbench: bare === undefined ? null : { clients: pgbenchClients, perSecond: rounded(bare, 1) },
    ratio: bare === undefined ? null : rounded(closed.perSecond / bare, 3),
    ...describeMachine(product.backends),
  };
  return { result, counts: true };
}
