import type { UndoLog } from '@undolog/client';
import { nowMs } from '../clock.js';
import type { Context } from '../context.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { cell, type Value } from '../output.js';
import { readSettings } from '../settings.js';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

const MAX_SKEW_MS = 5000;
const MANY = 200;

async function reach(url: string): Promise<Check[]> {
  const ready = await fetch(`${url.replace(/\/+$/, '')}/readyz`, { signal: AbortSignal.timeout(5000) });
  const { status } = (await ready.json().catch(() => ({}))) as { status?: string };
  const skewMs = Math.abs(Date.parse(ready.headers.get('date') ?? '') - nowMs());
  return [
    { name: 'api', ok: ready.ok && status !== 'degraded', detail: status ?? `answered ${ready.status}` },
    { name: 'clock', ok: skewMs < MAX_SKEW_MS, detail: `${Math.round(skewMs / 1000)} s apart` },
  ];
}

async function lookAround(client: UndoLog): Promise<Check[]> {
  const [{ data }, compensations] = await Promise.all([
    client.deadLetters.list({ state: 'open', limit: MANY }),
    client.compensations.list(),
  ]);
  const oldest = data.at(-1)?.halted_at;
  const count = data.length === MANY ? `${MANY} or more` : String(data.length);
  const down = compensations.filter((one) => one.breaker.state !== 'closed').map((one) => new URL(one.url).host);
  return [
    { name: 'dead letters', ok: !oldest, detail: `${count} open${oldest ? `, one since ${oldest}` : ''}` },
    {
      name: 'vendors',
      ok: down.length === 0,
      detail: down.length === 0 ? 'none is down' : `down: ${[...new Set(down)].join(', ')}`,
    },
  ];
}

function rowOf({ name, ok, detail }: Check): Value[] {
  return [ok ? cell('ok', 'good') : cell('!!', 'bad'), name, detail];
}

/** Whether UndoLog can be reached and used, and whether something waits for a person. */
export async function examine({ client, env, output }: Context): Promise<ExitCode> {
  const checks = await reach(readSettings(env).url);
  const { role } = await client().whoami();
  checks.push({ name: 'key', ok: true, detail: role });
  if (role !== 'agent') checks.push(...(await lookAround(client())));
  const ok = checks.every((check) => check.ok);
  if (output.json) output.data({ ok, checks });
  else output.table(['', 'check', ''], checks.map(rowOf));
  return ok ? EXIT.ok : EXIT.error;
}
