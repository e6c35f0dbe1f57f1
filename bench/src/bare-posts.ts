import { fileURLToPath } from 'node:url';
import { Child } from '@undolog/backends/child';
import { nodeArgsFor } from './node-args.js';
import type { Workplace } from './workplace.js';

const PROCESSES = 2;
const CONCURRENCY = 50;
/** For the processes to start and to warm up. */
const LEAD_MS = 3000;

/**
 * How many POSTs per second the vendor answers when two processes send nothing else, 50 at a time each: as many as two
 * compensators may have under way.
 */
export async function measureBarePosts(workplace: Workplace, url: string, measureMs: number): Promise<number> {
  const startAt = performance.timeOrigin + performance.now() + LEAD_MS;
  const script = fileURLToPath(new URL('bare-posts-main.ts', import.meta.url));
  const args = [...nodeArgsFor(script), url, String(CONCURRENCY), String(startAt), String(measureMs)];
  const counts = await Promise.all(
    Array.from({ length: PROCESSES }, async (_, index) => {
      const name = `bare-posts-${Math.round(startAt)}-${index}`;
      const child = new Child({ name, args, env: process.env, logDirectory: workplace.folder });
      workplace.onLeave(() => child.stop());
      return (JSON.parse(await child.output()) as { answers: number }).answers;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / (measureMs / 1000);
}
