import { nowMs } from '@undolog/shared/runtime/clock';

/** One request as the vendor met it. Nothing but what it received, what it did and what it answered. */
export interface VendorCall {
  readonly sequence: number;
  readonly method: string;
  readonly path: string;
  /** From the header that the tests give to every compensation; empty where it is missing. */
  readonly org: string;
  readonly session: string;
  readonly effect: string;
  readonly key: string;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds since 1970, when the whole request had arrived. */
  readonly receivedAtMs: number;
  /** When the answer was out or the connection gone; undefined while the call is open. */
  readonly closedAtMs: number | undefined;
  readonly status: number | undefined;
  /** Whether this call changed the vendor's books. A repeat under a key that was applied before does not. */
  readonly applied: boolean;
}

export type Received = Pick<VendorCall, 'method' | 'path' | 'headers' | 'body'>;

type Open = { -readonly [Member in keyof VendorCall]: VendorCall[Member] };

/** The calls of one vendor in the order of their arrival; entries are added and completed, never removed. */
export class VendorLedger {
  readonly #calls: Open[] = [];

  /** Notes a request. What is returned fills in how it ended. */
  add(received: Received): { applied(): void; closed(status: number | undefined): void; readonly call: VendorCall } {
    const { headers } = received;
    const call: Open = {
      ...received,
      sequence: this.#calls.length,
      org: headers['x-test-org'] ?? '',
      session: headers['undolog-session-id'] ?? '',
      effect: headers['undolog-effect-id'] ?? '',
      key: headers['idempotency-key'] ?? '',
      attempt: Number(headers['undolog-attempt'] ?? 0),
      receivedAtMs: nowMs(),
      closedAtMs: undefined,
      status: undefined,
      applied: false,
    };
    this.#calls.push(call);
    return {
      call,
      applied: () => (call.applied = true),
      closed(status) {
        call.closedAtMs ??= nowMs();
        call.status ??= status;
      },
    };
  }

  get calls(): readonly VendorCall[] {
    return this.#calls;
  }

  /** The undo calls of a session, oldest first; `org` tells apart sessions of the same id. */
  undosOf(sessionId: string, org?: string): VendorCall[] {
    return this.#calls.filter(
      (call) => call.session === sessionId && call.method !== 'GET' && (org === undefined || call.org === org),
    );
  }

  /** Questions about a session's records, oldest first. */
  questionsOf(sessionId: string): VendorCall[] {
    return this.#calls.filter((call) => call.session === sessionId && call.method === 'GET');
  }

  at(path: string): VendorCall[] {
    return this.#calls.filter((call) => call.path === path);
  }
}

/**
 * What is wrong with the undo calls of one session, in words; empty when they keep the promise: one key and one body
 * per entry, each applied at most once, one entry in flight at a time, and first calls strictly from the top down.
 *
 * @param positions stack position by undo id.
 */
export function ledgerFaults(calls: readonly VendorCall[], positions: ReadonlyMap<string, number>): string[] {
  const faults: string[] = [];
  const byKey = groupBy(calls, (call) => call.key);
  const firsts = [...byKey.values()].map(([first]) => first!);
  for (const [key, tries] of byKey) {
    if (!positions.has(key.replace(/^undo-/, ''))) faults.push(`${key} is not the key of an entry`);
    if (tries.some((call) => !call.body.equals(tries[0]!.body))) faults.push(`${key} was sent with two bodies`);
    if (tries.filter((call) => call.applied).length > 1) faults.push(`${key} was applied twice`);
  }
  const effects = groupBy(firsts, (call) => call.effect);
  for (const [effect, keys] of effects) if (keys.length > 1) faults.push(`effect ${effect} has ${keys.length} keys`);
  for (const [index, call] of firsts.entries()) {
    const before = firsts[index - 1];
    if (!before) continue;
    const [above, below] = [before, call].map(({ key }) => positions.get(key.replace(/^undo-/, '')) ?? NaN);
    if (!(above! > below!)) faults.push(`position ${below} was called after ${above}`);
    // A frozen worker keeps its call open while another one repeats it, so the latest call of a key speaks for it.
    for (const [key, tries] of byKey) {
      const latest = tries.findLast((other) => other.sequence < call.sequence);
      if (key !== call.key && latest && !closedBy(latest, call.receivedAtMs)) {
        faults.push(`${call.key} arrived while ${key} was open`);
      }
    }
  }
  return faults;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function closedBy(call: VendorCall, atMs: number): boolean {
  return call.closedAtMs !== undefined && call.closedAtMs <= atMs;
}
