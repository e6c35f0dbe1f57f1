import { forcedWay, takeFirstOpen, type BackendServer, type StartOptions } from './backend-server.js';
import { redisInDocker } from './docker.js';
import { redisOfThisMachine } from './redis-programs.js';
import { redisFromPackages } from './unpacked-redis.js';

/**
 * Starts a Redis of our own, whatever REDIS_URL says: the program of the machine, else Docker, else Debian's packages in
 * a cache. Answers undefined where none of these is possible; the queue then runs on Postgres.
 */
export async function startRedis(options: StartOptions = {}): Promise<BackendServer | undefined> {
  const { env = process.env, log = () => undefined, durable = false } = options;
  const { found, passedOver } = await takeFirstOpen<BackendServer>(
    [
      ['programs', () => redisOfThisMachine(env, durable)],
      ['docker', () => redisInDocker(env, durable)],
      ['embedded', () => redisFromPackages(env, durable)],
    ],
    forcedWay(env),
  );
  if (found === undefined) log(`Redis: none, the queue runs on Postgres (${passedOver})`);
  else log(`Redis: ${found.description}, private, on port ${found.port}${passedOver && ` (${passedOver})`}`);
  return found;
}
