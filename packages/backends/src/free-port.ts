import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Systems hand out ports above these to outgoing connections. Below them a port stays ours while its server is down for
 * a moment, so that a fault test can start it again where its clients look for it.
 */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const MAX_TRIES = 50;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A TCP port of 127.0.0.1 on which nobody listens right now; another process may still be faster than the caller. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST_PORT} and ${HIGHEST_PORT} after ${MAX_TRIES} tries`);
}
