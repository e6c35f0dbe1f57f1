import { setTimeout as sleep } from 'node:timers/promises';
import { stringifyWithText } from '@undolog/shared/domain/json-serialize';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import { presentPlace, readChanges, type Change, type ChangeCursor } from '@undolog/shared/store/read-changes';
import { stillValid } from '@undolog/shared/store/api-keys';
import { findSignIn } from '@undolog/shared/store/sign-ins';
import { badRequest, refuse, type Reply } from '../reply.js';
import type { Resources } from '../resources.js';
import { defineRoute, type Caller, type Route } from '../route.js';

const POLL_MS = 250;
const PAGE = 500;
/** Proxies close connections on which nothing comes; readers learn from it that the stream lives. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ': here\n\n';
/** A key that was revoked ends its streams within this time, and so does signing out of the page. */
const KEY_CHECK_MS = 5_000;
const MAX_STREAMS = 100;

const EVENT_ID = /^(\d{1,20})-(\d{1,19})$/;
const LATEST_XID = 2n ** 64n - 1n;
const LATEST_SEQ = BigInt(Number.MAX_SAFE_INTEGER);

/** Where a reader goes on; undefined for a text that was never an id of ours. */
function placeOf(lastEventId: string): ChangeCursor | undefined {
  const [, xid, seq] = EVENT_ID.exec(lastEventId) ?? [];
  if (xid === undefined || seq === undefined || BigInt(xid) > LATEST_XID || BigInt(seq) > LATEST_SEQ) return undefined;
  return { xid, seq: Number(seq) };
}

function write({ cursor, event, sessionId, undoId, state, at }: Change): string {
  const data = { session_id: sessionId, ...(undoId !== null && { undo_id: undoId }), state, at };
  return `id: ${cursor.xid}-${cursor.seq}\nevent: ${event}\ndata: ${stringifyWithText(data)}\n\n`;
}

async function mayGoOn({ database }: Resources, { orgId, keyId, signInHash }: Caller): Promise<boolean> {
  if (signInHash === undefined) return stillValid(database, orgId, keyId);
  return (await findSignIn(database, signInHash)) !== undefined;
}

/** Follows an org's changes until its reader goes, its key is revoked, Postgres is lost or the process stops. */
async function* follow(resources: Resources, caller: Caller, from: ChangeCursor): AsyncGenerator<string> {
  const { database, closing } = resources;
  let place = from;
  let [saidAtMs, checkedAtMs] = [monotonicMs(), monotonicMs()];
  yield 'retry: 1000\n\n';
  while (!closing.aborted) {
    const { changes, next, more } = await readChanges(database, caller.orgId, place, PAGE);
    place = next;
    const nowMs = monotonicMs();
    const text = changes.length > 0 ? changes.map(write).join('') : nowMs - saidAtMs > HEARTBEAT_MS ? HEARTBEAT : '';
    if (text !== '') {
      yield text;
      saidAtMs = nowMs;
    }
    if (nowMs - checkedAtMs > KEY_CHECK_MS) {
      if (!(await mayGoOn(resources, caller))) return;
      checkedAtMs = nowMs;
    }
    if (!more) await sleep(POLL_MS, undefined, { signal: closing }).catch(() => undefined);
  }
}

let open = 0;

async function* counted(stream: AsyncGenerator<string>): AsyncGenerator<string> {
  open += 1;
  try {
    yield* stream;
  } finally {
    open -= 1;
  }
}

const read = defineRoute({
  method: 'get',
  path: '/v1/stream',
  roles: ['operator'],
  summary: "Follow the org's sessions and undo entries as Server-Sent Events",
  answers: {
    200: {
      description:
        '`event: session` or `undo`, with `data {session_id, undo_id?, state, at}`: a session that left `active`, ' +
        'went on or ended, and an entry that was settled. `Last-Event-ID` goes on where a reader stopped; without ' +
        'it the stream begins now. A state may be told again after a fault, never left out.',
    },
  },
  refusals: ['invalid_request', 'unavailable'],
  async handle({ caller, headers, resources }): Promise<Reply> {
    const lastEventId = headers['last-event-id'];
    if (open >= MAX_STREAMS) return refuse('unavailable', 'this process serves as many streams as it can');
    const known = typeof lastEventId === 'string' && lastEventId !== '' ? placeOf(lastEventId) : undefined;
    if (lastEventId && !known) return badRequest('', 'Last-Event-ID is not an id of this stream');
    const from = known ?? (await presentPlace(resources.database));
    return {
      status: 200,
      contentType: 'text/event-stream',
      text: '',
      headers: { 'x-accel-buffering': 'no' },
      stream: counted(follow(resources, caller, from)),
    };
  },
});

export const streamRoutes: readonly Route[] = [read];
