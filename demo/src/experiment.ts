/**
 * The experiment: the same trips four times, each time with vendors whose books are empty.
 *
 * 1. Nothing compensates: flight and hotel of a trip without a car stay charged.
 * 2. With UndoLog.
 * 3. With UndoLog, while the hotel's cancel endpoint goes down in the middle. Once it is back, the halted sessions get
 *    another round; the ledgers are judged before and after.
 * 4. The same outage, and the undos wait it out: the ledgers are judged while it lasts and when it is over.
 */
import { bookTrip, bookTripWithUndo } from './agent.js';
import { auditLedgers } from './audit-ledgers.js';
import { compareClaims, type Expectation } from './compare-claims.js';
import { registerCompensations, type CompensationRetry } from './compensations.js';
import type { Itinerary, TripBatch } from './itineraries.js';
import { mapConcurrently } from './map-concurrently.js';
import type { UndoLogProcesses } from './processes.js';
import type { Progress } from './progress.js';
import { retryAll } from './retry-all.js';
import { reportRun, type RunReport } from './report.js';
import { readClaims } from './undolog-claims.js';
import { createOrg, UndoLogClient } from './undolog-client.js';
import { startVendors, type Vendors } from './vendors.js';
import { waitUntilParked, waitUntilSettled } from './wait-until-settled.js';

export interface Experiment {
  readonly batch: TripBatch;
  readonly undolog: UndoLogProcesses;
  readonly progress: Progress;
  readonly logDirectory: string;
  /** Hands over what a run leaves running; whoever takes it stops it at the end. */
  keep(kept: KeptRun): void;
}

export interface KeptRun {
  readonly run: string;
  readonly vendors: Vendors;
  readonly org: { readonly orgId: string; readonly apiKey: string } | undefined;
}

const TRIPS_AT_ONCE = 16;
const PATIENT: CompensationRetry = { maxRetries: 3, initialMs: 100, maxMs: 1_000, waitOutOutages: true };
/** Short, so that an outage is found out within the demo's minute. */
const IMPATIENT: CompensationRetry = { maxRetries: 2, initialMs: 50, maxMs: 1_000, waitOutOutages: false };
/** Long enough for several trips to fail before the calls of the first are used up: one alone makes no outage. */
const WAITING: CompensationRetry = { maxRetries: 3, initialMs: 1_000, maxMs: 4_000, waitOutOutages: true };
/** UndoLog's breaker opens when the undos of this many sessions fail. */
const SESSIONS_OF_AN_OUTAGE = 5;

export async function runExperiment(x: Experiment): Promise<RunReport[]> {
  return [await runWithoutUndo(x), await runWithUndo(x), ...(await runWithOutage(x)), ...(await runWithBreaker(x))];
}

async function runWithoutUndo(x: Experiment): Promise<RunReport> {
  const run = 'no compensation';
  const vendors = await openVendors(x, 'plain');
  x.keep({ run, vendors, org: undefined });
  const startedMs = performance.now();
  await travel(x, run, (itinerary) => bookTrip(vendors.urls, itinerary));
  const durationMs = performance.now() - startedMs;
  const verdict = auditLedgers(await vendors.ledgers(), tripNames(x));
  return reportRun({ run, verdict, claims: undefined, disagreements: [], durationMs });
}

async function runWithUndo(x: Experiment): Promise<RunReport> {
  const run = 'with UndoLog';
  const { vendors, client } = await openRun(x, run, 'undo', PATIENT);
  const startedMs = performance.now();
  await travel(x, run, (itinerary) => bookTripWithUndo(client, vendors.urls, itinerary));
  await waitUntilSettled(client);
  return judge(x, run, vendors, client, performance.now() - startedMs);
}

async function runWithOutage(x: Experiment): Promise<RunReport[]> {
  const run = 'hotel cancellations down';
  const { vendors, client } = await openRun(x, run, 'outage', IMPATIENT);
  await vendors.takeHotelCancellationsDown(Math.floor(x.batch.soldOutTrips.length / 2));
  const startedMs = performance.now();
  await travel(x, run, (itinerary) => bookTripWithUndo(client, vendors.urls, itinerary));
  await waitUntilSettled(client);
  const during = await judge(x, run, vendors, client, performance.now() - startedMs);

  await vendors.bringHotelCancellationsUp();
  x.progress.log('hotel back: retrying what has halted');
  const redrivenMs = performance.now();
  await retryAll(client);
  await waitUntilSettled(client);
  return [during, await judge(x, 'after re-drive', vendors, client, performance.now() - redrivenMs)];
}

async function runWithBreaker(x: Experiment): Promise<RunReport[]> {
  const run = 'down, with breaker';
  const { vendors, client } = await openRun(x, run, 'breaker', WAITING);
  const failing = x.batch.soldOutTrips.length;
  const firstUp = Math.min(Math.floor(failing / 2), failing - SESSIONS_OF_AN_OUTAGE);
  await vendors.takeHotelCancellationsDown(Math.max(0, firstUp));
  const startedMs = performance.now();
  await travel(x, run, (itinerary) => bookTripWithUndo(client, vendors.urls, itinerary));
  await waitUntilParked(client);
  const during = await judge(x, run, vendors, client, performance.now() - startedMs, { mayWait: true });

  await vendors.bringHotelCancellationsUp();
  const toldFromBadLuck = failing >= SESSIONS_OF_AN_OUTAGE;
  x.progress.log(
    `hotel back: ${toldFromBadLuck ? 'nobody needs to do anything' : 'too few trips failed for an outage'}`,
  );
  const backMs = performance.now();
  await waitUntilSettled(client);
  return [during, await judge(x, 'after it is back', vendors, client, performance.now() - backMs)];
}

async function openVendors(x: Experiment, name: string): Promise<Vendors> {
  return startVendors({ run: name, soldOutTrips: x.batch.soldOutTrips, logDirectory: x.logDirectory });
}

/** Fresh vendors and a fresh org, so that all that UndoLog lists belongs to this run. */
async function openRun(
  x: Experiment,
  run: string,
  name: string,
  retry: CompensationRetry,
): Promise<{ vendors: Vendors; client: UndoLogClient }> {
  const vendors = await openVendors(x, name);
  const org = await createOrg(x.undolog.apiUrl, x.undolog.adminToken, `demo: ${run}`).catch(async (error: unknown) => {
    await vendors.stop();
    throw error;
  });
  x.keep({ run, vendors, org });
  const client = new UndoLogClient(x.undolog.apiUrl, org.apiKey);
  await registerCompensations(client, vendors.urls, retry);
  return { vendors, client };
}

async function travel(x: Experiment, run: string, book: (itinerary: Itinerary) => Promise<unknown>): Promise<void> {
  const advance = x.progress.start(run, x.batch.itineraries.length);
  try {
    await mapConcurrently(x.batch.itineraries, TRIPS_AT_ONCE, async (itinerary) => {
      await book(itinerary);
      advance();
    });
  } finally {
    x.progress.finish();
  }
}

async function judge(
  x: Experiment,
  run: string,
  vendors: Vendors,
  client: UndoLogClient,
  durationMs: number,
  { mayWait }: Expectation = { mayWait: false },
): Promise<RunReport> {
  const claims = await readClaims(client);
  const ledgers = await vendors.ledgers();
  const verdict = auditLedgers(ledgers, tripNames(x));
  return reportRun({ run, verdict, claims, disagreements: compareClaims(claims, ledgers, { mayWait }), durationMs });
}

function tripNames(x: Experiment): string[] {
  return x.batch.itineraries.map(({ trip }) => trip);
}
