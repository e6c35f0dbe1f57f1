import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostBreakers } from '@undolog/compensator/host-breakers';
import type { VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { Tried } from '@undolog/compensator/call-vendor';
import type { Exchange, Settlement } from '@undolog/shared/domain/verdict';
import { DONE, openStoreWorld, REFUSED, UNCONFIRMED, type StoreWorld } from '../support/store-world.js';
import { compensation, undoCall } from '../support/undo-call.js';

let world: StoreWorld;
let close: () => Promise<void>;
const opened: HostBreakers[] = [];
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('host_breakers'));
});
afterAll(async () => {
  for (const breakers of opened) breakers.stop();
  await close();
});

function process(minSessions = 2, database = world.database, errors: Error[] = []): HostBreakers {
  const breakers = new HostBreakers(database, { minSessions }, (error) => errors.push(error));
  opened.push(breakers);
  return breakers;
}

type Attempt = NonNullable<NonNullable<Tried>['attempt']>;

const RETRY: Settlement = { kind: 'retry', delayMs: 100, code: 'http_503' };

function tried(attempt: Partial<Attempt> | null, settlement: Settlement = RETRY): Tried {
  const usual = { status: 503, outcome: 'unknown', error: null, durationMs: 1 } as const;
  return { attempt: attempt && { ...usual, ...attempt }, settlement };
}

/** Answers every question so. */
const asked = (exchange: Exchange): VendorClient => ({
  call: () => Promise.reject(new Error('nobody calls here')),
  ask: () => Promise.resolve(exchange),
  carrying: () => asked(exchange),
  close: () => Promise.resolve(),
});
const DOWN: Exchange = { kind: 'answer', status: 503, body: '', retryAfter: undefined };
const FORBIDDEN: Exchange = { ...DOWN, status: 403 };

/** A step that asks at `record` and then ends so. */
function guard(
  breakers: HostBreakers,
  host: string,
  sessionId: string,
  outcome: Tried,
  { answer = DOWN, record = `http://${host}/record` } = {},
): Promise<Tried> {
  const spec = compensation({ url: `http://${host}/x` });
  const step = { orgId: world.orgId, spec, entry: { sessionId, confirming: null }, client: asked(answer) };
  return breakers.guard(step, async (client) => {
    await client.ask(record, undoCall(spec), 100, new AbortController().signal);
    return outcome;
  });
}

/** Tries of two sessions that end so, twice each: enough, if they count. @returns what became of the last. */
async function outage(
  breakers: HostBreakers,
  host: string,
  outcome: Tried,
  asking?: { answer?: Exchange; record?: string },
): Promise<Tried> {
  for (const sessionId of ['a', 'b', 'a']) await guard(breakers, host, sessionId, outcome, asking);
  return guard(breakers, host, 'b', outcome, asking);
}

describe('the breaker of a host', () => {
  test.each<[string, Partial<Attempt>]>([
    ['5xx', {}],
    ['a time-out', { status: null, error: 'timeout' }],
    ['a host that is not there', { status: null, outcome: 'retry', error: 'ECONNREFUSED' }],
  ])('opens by %s, and parks the entry with whatever became of it', async (name, attempt) => {
    const last = tried(attempt, UNCONFIRMED);
    const parked = await outage(process(), `${name.replaceAll(' ', '-')}.example`, last);
    expect(parked).toMatchObject({ attempt: last!.attempt, settlement: { kind: 'parked', code: 'host_unavailable' } });
  });

  test.each<[string, Partial<Attempt> | null, Settlement]>([
    ['a refusal', { status: 404, outcome: 'refused' }, REFUSED],
    ['429', { status: 429, outcome: 'retry' }, RETRY],
    ['a 500 that the compensation takes for a refusal', { status: 500, outcome: 'refused' }, REFUSED],
    ['an address that is not allowed', { status: null, outcome: 'refused', error: 'url_not_allowed' }, REFUSED],
    ['a call that the process had to abandon', { status: null, error: 'abandoned' }, RETRY],
    ['a look at the record alone', null, DONE],
  ])('does not open by %s', async (name, attempt, settlement) => {
    const outcome = tried(attempt, settlement);
    expect(await outage(process(), `${name.replaceAll(' ', '-')}.example`, outcome)).toEqual(outcome);
  });

  test('takes nothing from an undo that the record confirms after a failed call', async () => {
    const confirmed = tried({}, DONE);
    expect(await outage(process(), 'confirmed.example', confirmed)).toEqual(confirmed);
  });

  const LOOKUP_FAILED: Settlement = { kind: 'settled', state: 'unconfirmed', code: 'lookup_failed' };

  test('opens by looks for the effect that the host does not answer, and not by those that it refuses', async () => {
    const failed = tried(null, LOOKUP_FAILED);
    expect(await outage(process(), 'looked.example', failed)).toMatchObject({ settlement: { kind: 'parked' } });
    expect(await outage(process(), 'closed.example', failed, { answer: FORBIDDEN })).toEqual(failed);
    expect(await outage(process(), 'here.example', failed, { record: 'http://elsewhere.example/' })).toEqual(failed);
  });

  test('is one for all processes: what one has seen, the others heed', async () => {
    const [one, other] = [process(), process()];
    await guard(one, 'shared.example', 'a', tried({}));
    await guard(other, 'shared.example', 'b', tried({}));
    await guard(one, 'shared.example', 'a', tried({}));
    expect(await guard(other, 'shared.example', 'b', tried({}))).toMatchObject({ settlement: { kind: 'parked' } });
    // A third one learns of it soon, without a failure of its own; the host stays down meanwhile.
    const third = process();
    const next = async (): Promise<Tried> => {
      await guard(one, 'shared.example', 'a', tried({}));
      return guard(third, 'shared.example', 'c', tried(null));
    };
    await expect.poll(next, { interval: 50, timeout: 5000 }).toMatchObject({ settlement: { kind: 'parked' } });
  });

  test('leaves an entry alone whose undo is done and whose record is asked', async () => {
    const breakers = process();
    await outage(breakers, 'confirming.example', tried({}));
    const spec = compensation({ url: 'http://confirming.example/x' });
    const entry = { sessionId: 'a', confirming: { leftMs: 1000, location: null } };
    const look = tried(null, DONE);
    const step = { orgId: world.orgId, spec, entry, client: asked(DOWN) };
    expect(await breakers.guard(step, () => Promise.resolve(look))).toEqual(look);
  });

  test('never costs an undo: where Postgres does not answer, the try counts as it is', async () => {
    const errors: Error[] = [];
    const lost = { ...world.database, transaction: () => Promise.reject(new Error('lost')) };
    expect(await outage(process(2, lost, errors), 'lost.example', tried({}))).toEqual(tried({}));
    expect(errors).toHaveLength(4);
  });

  test('does not exist where it is switched off', async () => {
    expect(await outage(process(0), 'off.example', tried({}))).toEqual(tried({}));
    const rows = await world.rows('SELECT 1 FROM undolog_breakers WHERE org_id = $1 AND host LIKE $2', '%off.example');
    expect(rows).toEqual([]);
  });
});
