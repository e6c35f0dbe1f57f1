/** What stands at the vendor for one trip: its bookings in the order in which they were made. */
interface Trip {
  readonly standing: Map<string, boolean>;
  /** When the vendor refused a booking of it; undefined: not yet, or all was undone since. */
  refusedAtMs: number | undefined;
}

export interface VendorStats {
  readonly books: number;
  readonly cancels: number;
  /** Requests under a key that was seen before. */
  readonly repeats: number;
  /** Cancellations of a booking while a later one of the same trip still stood. */
  readonly orderViolations: number;
  readonly trips: number;
  /** Trips that had a refusal and have nothing standing any more. */
  readonly unwound: number;
  readonly orphaned: number;
  /** From the refusal to the last cancellation. */
  readonly unwindMs: Readonly<Record<'p50' | 'p95' | 'p99' | 'max', number | null>>;
}

/** The kind of booking that the vendor always refuses. */
export const REFUSED_KIND = 'car';

/** The vendor's own record, against which a run is judged. */
export class VendorRecord {
  readonly #trips = new Map<string, Trip>();
  readonly #keys = new Set<string>();
  readonly #unwindMs: number[] = [];
  #books = 0;
  #cancels = 0;
  #repeats = 0;
  #orderViolations = 0;

  /** Whether the key is new. That of a refused booking is not kept: it may be tried again. */
  take(key: string | undefined, refused: boolean): boolean {
    if (key === undefined) return true;
    if (this.#keys.has(key)) {
      this.#repeats += 1;
      return false;
    }
    if (!refused) this.#keys.add(key);
    return true;
  }

  /** @returns whether the booking was made. */
  book(id: string, kind: string, nowMs: number): boolean {
    this.#books += 1;
    const trip = this.#tripOf(id);
    if (kind === REFUSED_KIND) {
      trip.refusedAtMs = nowMs;
      return false;
    }
    trip.standing.set(kind, true);
    return true;
  }

  cancel(id: string, kind: string, nowMs: number): void {
    this.#cancels += 1;
    const trip = this.#tripOf(id);
    let later = false;
    let left = false;
    for (const [one, stands] of trip.standing) {
      if (later && stands) this.#orderViolations += 1;
      if (one === kind) later = true;
      else left ||= stands;
    }
    trip.standing.set(kind, false);
    if (left || trip.refusedAtMs === undefined) return;
    this.#unwindMs.push(nowMs - trip.refusedAtMs);
    trip.refusedAtMs = undefined;
  }

  reset(): void {
    this.#trips.clear();
    this.#keys.clear();
    this.#unwindMs.length = 0;
    this.#books = this.#cancels = this.#repeats = this.#orderViolations = 0;
  }

  stats(): VendorStats {
    let orphaned = 0;
    for (const { standing } of this.#trips.values()) for (const stands of standing.values()) orphaned += Number(stands);
    const sorted = this.#unwindMs.toSorted((a, b) => a - b);
    const at = (share: number): number | null => {
      const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
      return value === undefined ? null : Math.round(value);
    };
    return {
      books: this.#books,
      cancels: this.#cancels,
      repeats: this.#repeats,
      orderViolations: this.#orderViolations,
      trips: this.#trips.size,
      unwound: sorted.length,
      orphaned,
      unwindMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
    };
  }

  #tripOf(id: string): Trip {
    let trip = this.#trips.get(id);
    if (!trip) this.#trips.set(id, (trip = { standing: new Map(), refusedAtMs: undefined }));
    return trip;
  }
}
