/** What was done to a run, by name. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #recoveries = new Map<string, number[]>();
  kills = 0;

  count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** How long something took to be well again. */
  recovered(name: string, ms: number): void {
    this.#recoveries.set(name, [...(this.#recoveries.get(name) ?? []), ms]);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get recoveries(): ReadonlyMap<string, readonly number[]> {
    return this.#recoveries;
  }
}
