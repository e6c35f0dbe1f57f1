import { setTimeout as sleep } from 'node:timers/promises';
import type { UndoLogClient } from './undolog-client.js';

const POLL_MS = 50;
const DEADLINE_MS = 25_000;

/**
 * Waits until no session of the org is on its way any more, and says how many still were at the deadline.
 *
 * `failed` is asked before `compensating`: sessions only move in that direction, so none slips between the two.
 */
export async function waitUntilSettled(client: UndoLogClient): Promise<number> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const failed = await client.sessions('failed');
    const compensating = await client.sessions('compensating');
    const underWay = failed.length + compensating.length;
    if (underWay === 0 || performance.now() > deadline) return underWay;
    await sleep(POLL_MS);
  }
}
