import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';

type Handle = (payload: WakeUpPayload) => Promise<void>;

/** A job that finds its org's share taken waits this long for a slot of it: nearly always one comes free by then. */
const HOLD_MS = 250;
/** Then it goes back to the end of the queue, so that jobs of other orgs behind it are seen. */
const STEP_ASIDE_MS = 500;

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
    if (!(await enter(share))) throw new WakeAgain(STEP_ASIDE_MS);
    try {
      await handle(payload);
    } finally {
      leave(orgId, share);
    }
  };
}
