/**
 * A process that does nothing but POST: what the vendor and this machine take when there is no UndoLog between them.
 * `bare-posts-main.ts URL CONCURRENCY START_AT MS` sends the body and the headers of a compensation; START_AT is the
 * time since the epoch at which it begins to count. Prints how many answers came in the MS that follow.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

const [url, concurrency, startAt, measureMs] = process.argv.slice(2) as [string, string, string, string];
const dispatcher = new Agent({ connections: Number(concurrency), pipelining: 1 });
const epochMs = (): number => performance.timeOrigin + performance.now();
const endAt = Number(startAt) + Number(measureMs);
let answers = 0;

function headersOf(): Record<string, string> {
  const id = randomUUID();
  return {
    'content-type': 'application/json',
    'idempotency-key': `undo-${id}`,
    'undolog-session-id': 'trip-bare',
    'undolog-effect-id': id,
    'undolog-effect-key': `effect-${id}`,
    'undolog-effect-outcome': 'committed',
    'undolog-attempt': '1',
    traceparent: `00-${id.replaceAll('-', '')}-00f067aa0ba902b7-01`,
  };
}

async function postUntilTheEnd(): Promise<void> {
  const body = JSON.stringify({ trip: 'trip-bare' });
  while (epochMs() < endAt) {
    const answer = await request(url, { method: 'POST', dispatcher, headers: headersOf(), body });
    await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`the vendor answered ${answer.statusCode}`);
    const now = epochMs();
    if (now >= Number(startAt) && now < endAt) answers += 1;
  }
}

await Promise.all(
  Array.from({ length: Number(concurrency) }, async (_, index) => {
    // Fifty connections at once would meet a full backlog.
    await sleep(index);
    await postUntilTheEnd();
  }),
);
await dispatcher.close();
process.stdout.write(`${JSON.stringify({ answers })}\n`);
