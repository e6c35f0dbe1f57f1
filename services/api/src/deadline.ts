import { DatabaseUnavailable } from '@undolog/shared/store/database';

/** A client is told within 2 s that Postgres is lost; the rest is for the way there and back. */
export const ANSWER_WITHIN_MS = 1_600;

/**
 * Gives up waiting, not the work: what is under way goes on, and its outcome is unknown to the caller.
 *
 * @throws {DatabaseUnavailable} after `ms` milliseconds.
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailable(`no answer within ${Math.round(ms)} ms`)), Math.max(ms, 1));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
