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

/** Waits until every session that is still on its way waits for a vendor that is down. */
export async function waitUntilParked(client: UndoLogClient): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await allParked(client)) && performance.now() < deadline) await sleep(POLL_MS);
}

async function allParked(client: UndoLogClient): Promise<boolean> {
  if ((await client.sessions('failed')).length > 0) return false;
  const underWay = await client.sessions('compensating');
  const stacks = await Promise.all(underWay.map(({ session_id: id }) => client.stack(id)));
  return stacks.every((stack) => stack.some(({ code }) => code === 'host_unavailable'));
}
