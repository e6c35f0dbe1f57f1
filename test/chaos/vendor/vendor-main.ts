/**
 * The vendor, a process of its own: `vendor-main.ts PORT LOG`. Every line of its log is written before the next thing
 * happens; the checker believes this log and nobody else's.
 *
 * ```
 * POST /{org}/book            {ref} → 200 {booking_id}
 * POST /{org}/undo/{manner}   {ref}, treated as manners.ts says
 * GET  /{org}/record/{ref}    {state: booked | cancelled}, or 404
 * GET  /{org}/bookings/{key}  {booking_id} of the forward call under this key, or 404
 * ```
 *
 * Anything else is a trap: nobody was ever told to call there. A line `hang ORG MS` on its standard input makes all calls
 * of an org hang for so long. On its standard output it says `deadly` when a call came that kills its caller.
 */
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Books } from './books.js';
import { isManner, MANNERS, type Manner } from './manners.js';

const DRIP_MS = 1000;
const [port, logFile] = process.argv.slice(2) as [string, string];
const log = openSync(logFile, 'a');
const books = new Books();
const hangingUntilMs = new Map<string, number>();
let calls = 0;

function note(line: object): void {
  writeSync(log, `${JSON.stringify({ at: Date.now(), ...line })}\n`);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Of a body that is no JSON, or says nothing of a booking: empty. */
function refOf(text: string): string {
  const body: unknown = text === '' ? {} : JSON.parse(text);
  const { ref } = body as { ref?: unknown };
  return typeof ref === 'string' ? ref : '';
}

interface Call {
  readonly call: number;
  readonly kind: 'book' | 'undo' | 'record' | 'bookings' | 'trap';
  readonly org: string;
  readonly name: string;
  readonly key: string;
  readonly ref: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
}

async function undo(call: Call, response: ServerResponse): Promise<void> {
  const nth = books.countCall(call.org, call.key);
  const manner: Manner = MANNERS[isManner(call.name) ? call.name : 'ok'](nth);
  if (call.name === 'deadly' && manner.ends === 'hang') process.stdout.write('deadly\n');
  const applied = manner.applies && (books.cancel(call.org, call.ref, call.key) || manner.forgets === true);
  note({ type: 'decided', call: call.call, says: manner.says, status: manner.status ?? null, applied });
  if (manner.delayMs !== undefined) await sleep(manner.delayMs);
  const wakesAtMs = hangingUntilMs.get(call.org) ?? 0;
  if (wakesAtMs > Date.now()) await sleep(wakesAtMs - Date.now());
  switch (manner.ends) {
    case 'hang':
      return;
    case 'reset':
      return void response.socket?.resetAndDestroy();
    case 'garbage':
      return void response.socket?.end('220 this is no HTTP\r\n\r\n');
    case 'drip':
      response.writeHead(200, JSON_TYPE);
      while (!response.destroyed) {
        response.write(' ');
        await sleep(DRIP_MS);
      }
      return;
    default:
      response.writeHead(manner.status ?? 200, { ...JSON_TYPE, ...manner.headers }).end(manner.body ?? '{}');
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await textOf(request);
  const [org = '', kind = '', name = ''] = request.url!.slice(1).split('/').map(decodeURIComponent);
  const known = ['book', 'undo', 'record', 'bookings'].includes(kind);
  const { headers } = request;
  const key = String(headers['idempotency-key'] ?? '');
  const ref = kind === 'record' ? name : refOf(text);
  const call: Call = { call: ++calls, kind: known ? (kind as Call['kind']) : 'trap', org, name, key, ref };
  note({
    type: 'received',
    ...call,
    token: headers['x-vendor-token'] ?? null,
    session: headers['undolog-session-id'] ?? null,
    effect: headers['undolog-effect-id'] ?? null,
    attempt: Number(headers['undolog-attempt'] ?? 0),
    body: createHash('sha256').update(text).digest('hex'),
  });
  response.once('close', () => note({ type: 'closed', call: call.call, delivered: response.writableFinished }));
  switch (call.kind) {
    case 'book':
      note({ type: 'decided', call: call.call, says: 'done', status: 200, applied: books.book(org, ref, key) });
      return answer(response, 200, { booking_id: `b-${call.call}` });
    case 'undo':
      return undo(call, response);
    case 'record': {
      const state = books.stateOf(org, ref);
      note({ type: 'decided', call: call.call, says: state ?? 'absent', status: state ? 200 : 404, applied: false });
      return answer(response, state ? 200 : 404, state ? { state } : {});
    }
    case 'bookings': {
      const found = books.bookedUnder(org, name);
      note({
        type: 'decided',
        call: call.call,
        says: found ? 'booked' : 'absent',
        status: found ? 200 : 404,
        applied: false,
      });
      return answer(response, found ? 200 : 404, found ? { booking_id: found } : {});
    }
    case 'trap':
      return answer(response, 200, {});
    default:
      call.kind satisfies never;
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [, org, ms] = line.split(' ');
    hangingUntilMs.set(org!, Date.now() + Number(ms));
  })
  // Its owner is gone.
  .once('close', () => process.exit(0));
