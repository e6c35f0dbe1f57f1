import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redisOnce } from '../../support/look-at-backends.js';
import type { Stage } from './stage.js';

const PAGES = ['/v1/dead-letters?limit=200', '/v1/audit?limit=200', '/v1/sessions?limit=200', '/v1/overview'];

async function redisText(url: string): Promise<string> {
  return redisOnce(url, async (redis) => {
    const texts: string[] = [];
    // DUMP shows every kind of value.
    for (const key of await redis.keys('*')) texts.push(key, (await redis.dumpBuffer(key))?.toString('latin1') ?? '');
    return texts.join('\n');
  });
}

async function pagesText(stage: Stage): Promise<string> {
  const texts: string[] = [];
  for (const { operatorKey } of stage.tenants) {
    const headers = { authorization: `Bearer ${operatorKey}` };
    const read = async (path: string): Promise<string> =>
      (await fetch(stage.apis[0]!.process.url + path, { headers })).text();
    for (const path of PAGES) texts.push(await read(path));
    const { data } = JSON.parse(await read('/v1/sessions?limit=20')) as { data: { session_id: string }[] };
    for (const { session_id: id } of data) texts.push(await read(`/v1/sessions/${encodeURIComponent(id)}/stack`));
  }
  return texts.join('\n');
}

/** Writes what a person or a program could read of the run into its folder, for the checker to search. */
export async function collectLeavings(stage: Stage): Promise<void> {
  const metrics = await Promise.all(
    stage.processes.map(async ({ process }) => (await fetch(`${process.healthUrl}/metrics`)).text()),
  );
  const write = (name: string, text: string): Promise<void> => writeFile(join(stage.folder, name), text);
  await write('metrics.txt', metrics.join('\n'));
  await write('redis.txt', await redisText(stage.redis.url));
  await write('pages.txt', await pagesText(stage));
}
