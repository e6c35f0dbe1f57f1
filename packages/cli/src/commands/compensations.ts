import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Compensation } from '@undolog/client';
import { freshName } from '../clock.js';
import type { Context, Work } from '../context.js';
import { CommandFailed, EXIT, type ExitCode } from '../exit-codes.js';
import { cell, state } from '../output.js';

type Run = (work: Work) => Promise<void>;

export function addCompensations(program: Command, run: Run): void {
  const compensations = program.command('compensations').description('how calls are undone');
  compensations
    .command('list')
    .description('list compensations, their endpoints and how these are doing')
    .action(() =>
      run(async ({ client, output }) => {
        const found = await client().compensations.list();
        if (output.json) return output.data(found);
        output.table(
          ['compensation', 'endpoint', 'confirm', 'breaker', 'paused'],
          found.map((one) => [
            `${one.fn_name}@${one.version}`,
            one.url,
            'confirm' in one && one['confirm'] ? 'yes' : cell('no', 'dim'),
            state(one.breaker.state),
            one.paused ? cell('paused', 'unsure') : null,
          ]),
        );
      }),
    );
  compensations
    .command('put <fn_name> <version> <file>')
    .description('register a compensation from a file of JSON; - is standard input')
    .action((fnName: string, version: string, file: string) =>
      run(async ({ client, output }) => {
        const body = readJson(file === '-' ? readFileSync(0, 'utf8') : readFileSync(file, 'utf8'));
        const put = await client().compensations.put(fnName, version, body);
        if (output.json) return output.data(put);
        output.line(`${put.fn_name}@${put.version}`, 'is registered at', put.url);
      }),
    );
  compensations
    .command('test <fn_name> <version>')
    .description('probe the endpoint from here: an undo of nothing, the same twice under one key, the record')
    .option('--args <json>', 'the body to send; choose one that names nothing real', '{}')
    .option('--header <name:value...>', 'in place of headers that come from secrets', [])
    .option('--yes', 'do not ask')
    .action((fnName: string, version: string, options: ProbeOptions) =>
      run((context) => probe(context, fnName, version, options)),
    );
}

function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new CommandFailed('not JSON', EXIT.usage);
  }
}

interface ProbeOptions {
  readonly args: string;
  readonly header: readonly string[];
  readonly yes?: boolean;
}

interface Probe {
  readonly step: string;
  readonly status: number | string;
  readonly means: string;
  readonly good: boolean;
}

/** Headers that the registry names, and those that the person gives for what it keeps secret. */
function headersOf(spec: Compensation, given: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries((spec['headers'] ?? {}) as Record<string, unknown>)) {
    if (typeof value === 'string') headers[name] = value;
  }
  for (const text of given) {
    const colon = text.indexOf(':');
    if (colon < 1) throw new CommandFailed('--header is NAME:VALUE', EXIT.usage);
    headers[text.slice(0, colon).toLowerCase()] = text.slice(colon + 1).trim();
  }
  return headers;
}

interface Answer {
  readonly status: number | string;
  readonly body: string;
}

async function send(url: string, init: RequestInit, timeoutMs: number): Promise<Answer> {
  try {
    const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    return { status: answer.status, body: await answer.text() };
  } catch (error) {
    return { status: (error as Error).name === 'TimeoutError' ? 'timeout' : 'no answer', body: '' };
  }
}

/** What UndoLog would make of the status, by the compensation's own lists first. */
function meaningOf(spec: Compensation, status: number | string): { means: string; good: boolean } {
  if (typeof status !== 'number') return { means: 'unknown: it would be retried, then unconfirmed', good: false };
  const lists = (spec['outcomes'] ?? {}) as Partial<Record<'done' | 'retry' | 'permanent', number[]>>;
  if (lists.done?.includes(status)) return { means: 'done, as it is listed', good: true };
  if (lists.retry?.includes(status)) return { means: 'retried, as it is listed', good: true };
  if (lists.permanent?.includes(status)) return { means: 'refused, as it is listed', good: true };
  if (status >= 200 && status < 300) return { means: 'done', good: true };
  if (status === 429) return { means: 'retried later', good: true };
  if (status >= 500) return { means: 'unknown: it would be retried, then unconfirmed', good: false };
  return { means: 'refused: the session would halt', good: status >= 400 };
}

async function probe(context: Context, fnName: string, version: string, options: ProbeOptions): Promise<ExitCode> {
  const { client, output, ask } = context;
  const spec = await client().compensations.get(fnName, version);
  readJson(options.args);
  if (!options.yes) {
    if (!ask) throw new CommandFailed('this calls the endpoint; say --yes', EXIT.usage);
    const answer = await ask(`call ${spec.url} three times with ${options.args}? (yes/no) `);
    if (answer.trim() !== 'yes') throw new CommandFailed('nothing was called');
  }
  const probes = await probeAll(spec, options);
  if (output.json) output.data(probes);
  else
    output.table(
      ['step', 'answer', 'means', ''],
      probes.map((one) => [one.step, one.status, one.means, cell(one.good ? 'ok' : '!!', one.good ? 'good' : 'bad')]),
    );
  return probes.every((one) => one.good) ? EXIT.ok : EXIT.error;
}

async function probeAll(spec: Compensation, options: ProbeOptions): Promise<Probe[]> {
  const headers = headersOf(spec, options.header);
  const timeoutMs = Number(spec['timeout_ms'] ?? 10_000);
  const method = typeof spec['method'] === 'string' ? spec['method'] : 'POST';
  const call = (key: string): Promise<Answer> =>
    send(spec.url, { method, headers: { ...headers, 'idempotency-key': key }, body: options.args }, timeoutMs);
  const nothing = await call(`undo-probe-${freshName()}`);
  const probes = [{ step: 'undo of what was never done', status: nothing.status, ...meaningOf(spec, nothing.status) }];
  const key = `undo-probe-${freshName()}`;
  const [first, second] = [await call(key), await call(key)];
  const same = first.status === second.status;
  probes.push({
    step: 'the same twice under one key',
    status: `${first.status}, ${second.status}`,
    means: same ? 'answered alike' : 'the repeat is answered otherwise: is the key honoured?',
    good: same,
  });
  const confirm = spec['confirm'] as { url?: string } | undefined;
  if (!confirm?.url)
    return [...probes, { step: 'the record', status: '–', means: 'none: a "done" is taken at its word', good: true }];
  const args = readJson(options.args);
  const address = confirm.url.replaceAll(/\{args\.([\w.-]+)\}/g, (_whole, path: string) =>
    encodeURIComponent(textAt(args, path)),
  );
  const shown = await send(address, { headers }, timeoutMs);
  const good = typeof shown.status === 'number' && shown.status < 500;
  return [
    ...probes,
    { step: 'the record', status: shown.status, means: good ? 'can be asked' : 'can not be asked', good },
  ];
}

function textAt(args: Record<string, unknown>, path: string): string {
  let found: unknown = args;
  for (const key of path.split('.')) found = (found as Record<string, unknown> | undefined)?.[key];
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}
