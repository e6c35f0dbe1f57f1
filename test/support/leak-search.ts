import { redisOnce } from './look-at-backends.js';
import type { World } from './world.js';

/** Every row of every table of the world's database as text; what is kept as bytes is in hexadecimal. */
export async function databaseText(world: World): Promise<string> {
  const tables = await world.rows<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = [];
  for (const { name } of tables) {
    const rows = await world.rows<{ line: string }>(`SELECT t::text AS line FROM ${name} t`);
    texts.push(...rows.map((row) => row.line));
  }
  return texts.join('\n');
}

/** Everything that the world's queue holds in Redis, as text; without a Redis it is in the database. */
export function redisText(world: World): Promise<string> {
  if (world.redisUrl === undefined) return Promise.resolve('');
  return redisOnce(world.redisUrl, async (redis) => {
    const texts = [];
    for (const key of await redis.keys(`${world.queuePrefix}:*`)) texts.push(key, JSON.stringify(await valueOf(key)));
    return texts.join('\n');

    async function valueOf(key: string): Promise<unknown> {
      switch (await redis.type(key)) {
        case 'string':
          return redis.get(key);
        case 'hash':
          return redis.hgetall(key);
        case 'list':
          return redis.lrange(key, 0, -1);
        case 'set':
          return redis.smembers(key);
        case 'zset':
          return redis.zrange(key, 0, -1);
        case 'stream':
          return redis.xrange(key, '-', '+');
        default:
          return undefined;
      }
    }
  });
}

/** Which of the words stand in a text, also as hexadecimal or base64. */
export function found(text: string, words: readonly string[]): string[] {
  const written = (word: string): string[] => {
    const bytes = Buffer.from(word);
    // Base64 depends on what stands before; the middle of each of the three ways is always the same.
    const base64 = [0, 1, 2].map((pad) =>
      Buffer.concat([Buffer.alloc(pad), bytes])
        .toString('base64')
        .slice(4, -4),
    );
    return [word, bytes.toString('hex'), ...base64];
  };
  return words.filter((word) => written(word).some((form) => text.includes(form)));
}
