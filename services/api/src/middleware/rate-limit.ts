import { MemoryStore, type Options } from 'express-rate-limit';
import { refuse, type Reply } from '../reply.js';

const WINDOW_MS = 1000;

/** Answers the refusal of a request that is one too many, or undefined. */
export type RateLimiter = (keyId: string) => Promise<Reply | undefined>;

/** So many requests per second and key; each api process counts for itself. */
export function limitRate(requestsPerSecond: number): RateLimiter {
  const counts = new MemoryStore();
  counts.init({ windowMs: WINDOW_MS } as Options);
  return async (keyId) => {
    const { totalHits } = await counts.increment(keyId);
    return totalHits > requestsPerSecond ? refuse('rate_limited') : undefined;
  };
}
