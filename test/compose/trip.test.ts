import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ComposeProject, whatIsMissing } from './compose-project.js';
import type { LedgerLine } from './vendor.mjs';

const KINDS = ['flight', 'hotel', 'car'];
const TAKEOVER_LIMIT_MS = 15_000;
const missing = await whatIsMissing();
if (missing !== undefined) console.log(`skipped: ${missing}`);

interface Effect {
  readonly effect_id: string;
  readonly idempotency_key: string;
}

async function call<T>(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...payload,
  });
  const text = await response.text();
  if (response.status >= 300 && response.status !== 409)
    throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return { status: response.status, ...(JSON.parse(text || 'null') as object) } as T;
}

async function until<T>(limitMs: number, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`nothing within ${limitMs} ms`);
    await sleep(100);
  }
}

describe.skipIf(missing !== undefined)('the installation of docker-compose.yml', () => {
  const project = new ComposeProject();
  let api: string;
  let vendor: string;
  let key: { authorization: string };

  beforeAll(async () => {
    await project.up();
    [api, vendor] = await Promise.all([project.url('api'), project.url('vendor')]);
    const admin = { authorization: `Bearer ${project.adminToken}` };
    const org = await call<{ api_key: string }>('POST', `${api}/v1/orgs`, { name: 'compose' }, admin);
    key = { authorization: `Bearer ${org.api_key}` };
    for (const kind of KINDS) {
      const spec = { url: `http://vendor:8080/${kind}/cancel`, timeout_ms: 60_000 };
      await call('PUT', `${api}/v1/compensations/cancel_${kind}/1`, spec, key);
    }
  });

  afterAll(() => project.down());

  const ledgerOf = async (trip: string): Promise<LedgerLine[]> => {
    const response = await fetch(`${vendor}/ledger`);
    return ((await response.json()) as LedgerLine[]).filter((line) => line.trip === trip);
  };
  const cancellations = async (trip: string): Promise<LedgerLine[]> =>
    (await ledgerOf(trip)).filter((line) => line.action === 'cancel');

  /** Books flight, hotel and car as an agent would; the car is refused, and the session with it. */
  async function failTrip(trip: string): Promise<void> {
    const session = `${api}/v1/sessions/${trip}`;
    await call('POST', `${api}/v1/sessions`, { session_id: trip }, key);
    for (const kind of KINDS) {
      const args = { trip, booking_id: { $result: '/booking_id' } };
      const compensation = { fn_name: `cancel_${kind}`, version: '1', args };
      const registration = { tool_name: `book_${kind}`, args: { trip }, effect_class: 'compensable', compensation };
      const effect = await call<Effect>('POST', `${session}/effects`, registration, key);
      const forward = { 'idempotency-key': effect.idempotency_key };
      const booked = await call<{ status: number }>('POST', `${vendor}/${kind}/book`, { trip }, forward);
      const { status, ...result } = booked;
      const report = `${api}/v1/effects/${effect.effect_id}`;
      if (status === 200) await call('POST', `${report}/commit`, { result }, key);
      else await call('POST', `${report}/fail`, { error: result, outcome: 'not_applied' }, key);
    }
    await call('POST', `${session}/fail`, { reason: 'no car' }, key);
  }

  const compensated = (trip: string, limitMs: number): Promise<unknown> =>
    until(limitMs, async () => {
      const session = await call<{ state: string }>('GET', `${api}/v1/sessions/${trip}`, undefined, key);
      return session.state === 'compensated' ? session : undefined;
    });

  test('a trip whose car fails ends with the hotel and then the flight cancelled, by the vendor’s own ledger', async () => {
    const trips = Array.from({ length: 10 }, (_, n) => `trip-${n}`);
    await Promise.all(trips.map(failTrip));
    for (const trip of trips) {
      expect(await compensated(trip, 20_000)).toMatchObject({ fully_compensated: true });
      expect((await cancellations(trip)).map(({ kind, outcome }) => [kind, outcome])).toEqual([
        ['hotel', 'applied'],
        ['flight', 'applied'],
      ]);
    }
    expect(await (await fetch(`${vendor}/standing`)).json()).toEqual([]);
  });

  test('a compensator container killed in the middle of a call costs no effect and no order: same key, one cancellation', async () => {
    const trip = 'trip-of-the-killed';
    await call('PUT', `${vendor}/hold`, { trip });
    await failTrip(trip);
    const held = await until(10_000, async () => (await cancellations(trip)).find(({ outcome }) => outcome === 'held'));
    const workers = await project.containers('compensator');
    expect(workers).toHaveLength(2);
    const holder = workers.find(({ address }) => held.from.endsWith(address));
    await project.kill(holder!.id);
    await compensated(trip, TAKEOVER_LIMIT_MS + 5_000);
    const undone = await cancellations(trip);
    expect(undone.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['hotel', 'held'],
      ['hotel', 'repeat'],
      ['flight', 'applied'],
    ]);
    expect(undone[1]?.key).toBe(held.key);
    expect(undone[1]?.from).not.toBe(held.from);
    expect(await (await fetch(`${vendor}/standing`)).json()).toEqual([]);
  });

  test('SIGTERM reaches Node in every container: api and compensator end by themselves with exit code 0', async () => {
    const running = [...(await project.containers('api')), ...(await project.containers('compensator'))];
    expect(running).toHaveLength(2);
    await project.compose('stop', 'api', 'compensator');
    expect(await Promise.all(running.map(({ id }) => project.exitCode(id)))).toEqual([0, 0]);
  });
});
