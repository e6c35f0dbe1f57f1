/** A Postgres or a Redis that we started and that is ours alone. */
export interface BackendServer {
  /** With the password, which is random: the port is open to every user of the machine. */
  readonly url: string;
  readonly port: number;
  /** Where it came from, for a person: `Postgres 15.16 of /usr/lib/postgresql/15/bin`. */
  readonly description: string;
  /** Ends it and keeps its data; SIGKILL makes it a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and the same data. */
  start(): Promise<void>;
  /** Ends it and removes all it left. */
  remove(): Promise<void>;
}

export const WAYS = ['environment', 'programs', 'docker', 'embedded'] as const;
export type Way = (typeof WAYS)[number];

/** A way that is not open on this machine is an expected outcome, and the next one is tried. */
export type WayOutcome<T> =
  { readonly open: true; readonly found: T } | { readonly open: false; readonly reason: string };

export function closed(reason: string): { readonly open: false; readonly reason: string } {
  return { open: false, reason };
}

export type WayIn<T> = readonly [way: Way, take: () => Promise<WayOutcome<T>>];

export interface StartOptions {
  /** PATH, DOCKER_HOST and UNDOLOG_BACKENDS are read from it. Default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Gets one line that says what was chosen and why not what comes before it. */
  readonly log?: (line: string) => void;
  /** Whether data survives a crash of the machine (fsync). Default false: tests and the demo need only our own crashes. */
  readonly durable?: boolean;
}

/** UNDOLOG_BACKENDS names the only way that may be taken; undefined leaves all of them, in their order. */
export function forcedWay(env: NodeJS.ProcessEnv): Way | undefined {
  const value = env['UNDOLOG_BACKENDS'];
  if (value === undefined || value === '') return undefined;
  const way = WAYS.find((known) => known === value);
  if (way === undefined) throw new Error(`UNDOLOG_BACKENDS is ${value}, and not one of ${WAYS.join(', ')}`);
  return way;
}

export interface Taken<T> {
  readonly found: T | undefined;
  /** Why the ways before it, or all of them, were closed; empty if there is nothing to tell. */
  readonly passedOver: string;
}

/** Takes the first way that is open. A way that breaks is closed like one that is missing. */
export async function takeFirstOpen<T>(ways: readonly WayIn<T>[], only: Way | undefined): Promise<Taken<T>> {
  const reasons: string[] = [];
  for (const [way, take] of ways) {
    if (only !== undefined && way !== only) continue;
    const outcome = await take().catch((error: unknown) =>
      closed(error instanceof Error ? error.message : String(error)),
    );
    if (outcome.open) return { found: outcome.found, passedOver: reasons.join('; ') };
    reasons.push(`${way}: ${outcome.reason.replace(/\s+/g, ' ').trim()}`);
  }
  if (only === 'environment') reasons.push('UNDOLOG_BACKENDS is environment, which names none');
  return { found: undefined, passedOver: reasons.join('; ') };
}
