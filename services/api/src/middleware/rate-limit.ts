import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';
import { refuse, type Reply } from '../reply.js';

const WINDOW_MS = 1000;
const GUESS_WINDOW_MS = 60_000;
const MAX_WRONG_GUESSES = 10;

function countWithin(windowMs: number): MemoryStore {
  const counts = new MemoryStore();
  counts.init({ windowMs } as Options);
  return counts;
}

/** Answers the refusal of a request that is one too many, or undefined. */
export type RateLimiter = (keyId: string) => Promise<Reply | undefined>;

/** So many requests per second and key; each api process counts for itself. */
export function limitRate(requestsPerSecond: number): RateLimiter {
  const counts = countWithin(WINDOW_MS);
  return async (keyId) => {
    const { totalHits } = await counts.increment(keyId);
    return totalHits > requestsPerSecond ? refuse('rate_limited') : undefined;
  };
}

/** Keeps an address from trying one secret after the other; of each api process its own. */
export interface GuessLimiter {
  /** Counts the guess as wrong until it is said to be right. @returns the refusal of one that is too many. */
  begin(address: string | undefined): Promise<Reply | undefined>;
  wasRight(address: string | undefined): Promise<void>;
}

/** Whoever has one address of IPv6 has a whole network of them. */
const keyOf = (address: string | undefined): string => (address === undefined ? '' : ipKeyGenerator(address));

export function limitGuesses(): GuessLimiter {
  const counts = countWithin(GUESS_WINDOW_MS);
  return {
    async begin(address) {
      const { totalHits } = await counts.increment(keyOf(address));
      if (totalHits <= MAX_WRONG_GUESSES) return undefined;
      const refusal = refuse('rate_limited', 'too many wrong keys came from this address; wait a minute');
      return { ...refusal, headers: { ...refusal.headers, 'retry-after': String(GUESS_WINDOW_MS / 1000) } };
    },
    wasRight: (address) => counts.decrement(keyOf(address)),
  };
}
