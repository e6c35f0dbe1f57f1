import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WokenFor } from '@undolog/shared/queue/job';

/** Runs one job. `seen`: to be called once it is known which host the entry's undo calls. */
type Handle = (payload: WokenFor, seen: (host: string) => void) => Promise<void>;
/** Asks which host an entry's undo calls; undefined: none, or nobody can say. */
type FindHost = (payload: WokenFor) => Promise<string | undefined>;

/** A job that finds its share taken waits for a slot of it, while one is passed on to such jobs at least this often. */
const HOLD_MS = 250;
/** In all it waits no longer than this. */
const MAX_HOLD_MS = 4 * HOLD_MS;
/** Then it goes back to the queue for at least this long, so that jobs of others behind it are seen. */
const MIN_ASIDE_MS = 500;

/** What the worker takes at a time: the share of one org is half of it, and that of one host half of the org's. */
export function slotsFor(slotsPerHost: number): number {
  return 4 * slotsPerHost;
}

interface Waiting {
  readonly host: string | undefined;
  take(): void;
}

/**
 * The slots of one org, while a job of it is in hand.
 *
 * A job carries ids only, so its host shows when its entry is claimed. Until then it counts as one of every host.
 */
class Share {
  readonly #slotsPerHost: number;
  readonly #running = new Map<string | undefined, number>();
  #total = 0;
  /** Jobs of the org in hand, with a slot or without. */
  jobs = 0;
  /** Every host that has been seen since. */
  readonly hosts = new Set<string>();
  /** Jobs that wait for a slot, oldest first. */
  readonly #waiting: Waiting[] = [];
  /** How many slots have been passed on to jobs that waited. */
  #passedOn = 0;

  constructor(slotsPerHost: number) {
    this.#slotsPerHost = slotsPerHost;
  }

  /** Whether a job fits: at this host, or, where it is not known, at whichever it may turn out to be. */
  fits(host: string | undefined): boolean {
    const unknown = this.#running.get(undefined) ?? 0;
    const known = host === undefined ? this.#busiest() : (this.#running.get(host) ?? 0);
    return this.#total < 2 * this.#slotsPerHost && known + unknown < this.#slotsPerHost;
  }

  take(host: string | undefined): void {
    this.#total++;
    this.#count(host, 1);
  }

  leave(host: string | undefined): void {
    this.#total--;
    this.#count(host, -1);
    this.#passOn();
  }

  /** A job that holds a slot has turned out to be one of this host. */
  know(host: string): void {
    this.#count(undefined, -1);
    this.#count(host, 1);
    this.#passOn();
  }

  /** Takes a slot that comes free in time; says whether one did. */
  hold(host: string | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout;
      const waiting: Waiting = {
        host,
        take: () => {
          clearTimeout(timer);
          this.take(host);
          resolve(true);
        },
      };
      const wait = (heldMs: number, passedOn: number): void => {
        timer = setTimeout(() => {
          if (this.#passedOn > passedOn && heldMs < MAX_HOLD_MS) return wait(heldMs + HOLD_MS, this.#passedOn);
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          resolve(false);
        }, HOLD_MS);
      };
      this.#waiting.push(waiting);
      wait(HOLD_MS, this.#passedOn);
    });
  }

  #busiest(): number {
    let most = 0;
    for (const [host, running] of this.#running) if (host !== undefined) most = Math.max(most, running);
    return most;
  }

  #count(host: string | undefined, by: number): void {
    const running = (this.#running.get(host) ?? 0) + by;
    if (running === 0) this.#running.delete(host);
    else this.#running.set(host, running);
    if (host !== undefined) this.hosts.add(host);
  }

  #passOn(): void {
    for (;;) {
      const next = this.#waiting.findIndex(({ host }) => this.fits(host));
      if (next < 0) return;
      this.#passedOn++;
      this.#waiting.splice(next, 1)[0]!.take();
    }
  }
}

/**
 * Lets each org run at most its share of entries at a time, and each of its hosts at most half of that, so that a vendor
 * that hangs at every call leaves slots for the other vendors of the org and for the other orgs.
 *
 * Nothing is claimed before a slot is there; a job that steps aside has changed nothing.
 */
export function shareFairly(
  slotsPerHost: number,
  handle: Handle,
  findHost: FindHost,
): (payload: WokenFor) => Promise<void> {
  const shares = new Map<string, Share>();
  /** How many jobs have stepped aside and are not due yet. */
  let aside = 0;

  /**
   * The more jobs step aside, the longer each does: looking at them again takes half of what a worker can look at, and
   * the other half is for jobs that were added later. (The Postgres queue hands out the older ones first, always.)
   */
  function stepAside(): WakeAgain {
    aside++;
    const waitMs = Math.max(MIN_ASIDE_MS, Math.ceil((2 * aside * HOLD_MS) / slotsPerHost));
    setTimeout(() => aside--, waitMs).unref();
    return new WakeAgain(waitMs);
  }

  /** Takes a slot. An org that calls one host only need not be asked which, unless that host lets everybody wait. */
  async function enter(share: Share, payload: WokenFor): Promise<string | undefined> {
    let host: string | undefined;
    if (!share.fits(host) && share.hosts.size > 1) host = await findHost(payload);
    if (!share.fits(host)) {
      if (await share.hold(host)) return host;
      host ??= await findHost(payload);
      if (host === undefined || !share.fits(host)) throw stepAside();
    }
    share.take(host);
    return host;
  }

  return async (payload) => {
    const orgId = payload.org_id;
    const share = shares.get(orgId) ?? new Share(slotsPerHost);
    shares.set(orgId, share);
    share.jobs++;
    try {
      let host = await enter(share, payload);
      const seen = (name: string): void => {
        if (host === undefined) share.know((host = name));
      };
      try {
        await handle(payload, seen);
      } finally {
        share.leave(host);
      }
    } finally {
      share.jobs--;
      if (share.jobs === 0) shares.delete(orgId);
    }
  };
}
