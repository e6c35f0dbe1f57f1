import { postgresAnswers } from './fresh-database.js';
import { redisAnswers } from './redis-answers.js';

export interface NamedBackend {
  readonly url: string;
  readonly description: string;
}

/** Host and port only: a log must not show the password. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'a place of its own notation';
}

/**
 * A backend that the user named is used or reported, never replaced by another: data would end up where nobody looks.
 * Rejects if it does not answer.
 */
async function named(
  env: NodeJS.ProcessEnv,
  variable: 'DATABASE_URL' | 'REDIS_URL',
  answers: (url: string) => Promise<unknown>,
): Promise<NamedBackend | undefined> {
  const url = env[variable];
  if (url === undefined || url === '') return undefined;
  try {
    await answers(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    throw new Error(`${variable} (${placeOf(url)}) does not answer: ${reason}`, { cause: error });
  }
  return { url, description: `${variable}, ${placeOf(url)}` };
}

export function postgresFromEnvironment(env: NodeJS.ProcessEnv): Promise<NamedBackend | undefined> {
  return named(env, 'DATABASE_URL', postgresAnswers);
}

export function redisFromEnvironment(env: NodeJS.ProcessEnv): Promise<NamedBackend | undefined> {
  return named(env, 'REDIS_URL', redisAnswers);
}
