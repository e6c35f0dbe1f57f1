import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';

type Handle = (payload: WakeUpPayload) => Promise<void>;

/** A job that finds its org's share taken waits this long for a slot of it: nearly always one comes free by then. */
const HOLD_MS = 250;
/** Then it goes back to the queue for at least this long, so that jobs of other orgs behind it are seen. */
const MIN_ASIDE_MS = 500;

interface Share {
  running: number;
  /** Jobs that wait for a slot of this share, oldest first. */
  readonly waiting: (() => void)[];
}

/** What the worker takes at a time, so that the share of one org is half of it. */
export function slotsFor(slotsPerOrg: number): number {
  return 2 * slotsPerOrg;
}

/**
 * Lets each org run at most its share of entries at a time, so that a vendor that hangs at every call of one org leaves
 * slots for the others.
 *
 * Nothing is claimed before a slot is there; a job that steps aside has changed nothing.
 */
export function shareFairly(slotsPerOrg: number, handle: Handle): Handle {
  const shares = new Map<string, Share>();
  /** How many jobs have stepped aside and are not due yet. */
  let aside = 0;

  /**
   * The more jobs step aside, the longer each does: looking at them again takes half of what a worker can look at, and
   * the other half is for jobs that were added later. (The Postgres queue hands out the older ones first, always.)
   */
  function stepAside(): WakeAgain {
    aside++;
    const waitMs = Math.max(MIN_ASIDE_MS, Math.ceil((2 * aside * HOLD_MS) / slotsPerOrg));
    setTimeout(() => aside--, waitMs).unref();
    return new WakeAgain(waitMs);
  }

  /** Whether a slot came in time. */
  function enter(share: Share): Promise<boolean> {
    if (share.running < slotsPerOrg) {
      share.running++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        share.waiting.splice(share.waiting.indexOf(take), 1);
        resolve(false);
      }, HOLD_MS);
      share.waiting.push(take);
    });
  }

  function leave(orgId: string, share: Share): void {
    const next = share.waiting.shift();
    if (next) return next();
    share.running--;
    if (share.running === 0) shares.delete(orgId);
  }

  return async (payload) => {
    const orgId = payload.org_id;
    const share = shares.get(orgId) ?? { running: 0, waiting: [] };
    shares.set(orgId, share);
    if (!(await enter(share))) throw stepAside();
    try {
      await handle(payload);
    } finally {
      leave(orgId, share);
    }
  };
}
