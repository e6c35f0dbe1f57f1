/** What the vendor holds to be true of the bookings of its customers, and the idempotency keys that it honours. */
export class Books {
  readonly #bookings = new Map<string, { state: 'booked' | 'cancelled'; readonly key: string }>();
  readonly #byKey = new Map<string, string>();
  readonly #calls = new Map<string, number>();
  readonly #applied = new Set<string>();

  /** @returns how many calls came under this key, this one included. */
  countCall(org: string, key: string): number {
    const name = `${org} ${key}`;
    const count = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, count);
    return count;
  }

  /** @returns whether it changed anything; a key that was applied changes nothing a second time. */
  book(org: string, ref: string, key: string): boolean {
    if (!this.#take(org, key)) return false;
    this.#bookings.set(`${org} ${ref}`, { state: 'booked', key });
    this.#byKey.set(`${org} ${key}`, ref);
    return true;
  }

  cancel(org: string, ref: string, key: string): boolean {
    if (!this.#take(org, key)) return false;
    const booking = this.#bookings.get(`${org} ${ref}`);
    if (booking?.state !== 'booked') return false;
    booking.state = 'cancelled';
    return true;
  }

  stateOf(org: string, ref: string): 'booked' | 'cancelled' | undefined {
    return this.#bookings.get(`${org} ${ref}`)?.state;
  }

  bookedUnder(org: string, key: string): string | undefined {
    return this.#byKey.get(`${org} ${key}`);
  }

  #take(org: string, key: string): boolean {
    const name = `${org} ${key}`;
    if (this.#applied.has(name)) return false;
    this.#applied.add(name);
    return true;
  }
}
