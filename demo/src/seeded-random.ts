/** Random numbers that are the same for the same seed on every machine (mulberry32). */
export interface SeededRandom {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** `count` different numbers out of 0 … `size` - 1. */
  sample(size: number, count: number): Set<number>;
}

export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function between(low: number, high: number): number {
    return low + Math.floor(next() * (high - low + 1));
  }

  return {
    between,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    sample(size, count) {
      const order = Array.from({ length: size }, (_, index) => index);
      for (let last = size - 1; last > 0; last -= 1) {
        const other = between(0, last);
        [order[last], order[other]] = [order[other] as number, order[last] as number];
      }
      return new Set(order.slice(0, count));
    },
  };
}
