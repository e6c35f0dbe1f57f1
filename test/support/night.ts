import { expect } from 'vitest';
import { bodyOf, type AgentSession, type Org } from './api-client.js';
import { openWorld } from './world.js';

/** An org in the small hours: trips that went well, one that is halted, and what led to it. */
export interface Night {
  readonly url: string;
  readonly apiKey: string;
  /** The session that a person must see to, and its dead letter. */
  readonly halted: string;
  readonly letter: string;
  readonly unwound: string;
  close(): Promise<void>;
}

const TRIP = ['flight', 'hotel', 'car'] as const;

/** Tools and compensations under the names that a travel agent would give them. */
class Agency {
  readonly org: Org;

  constructor(org: Org) {
    this.org = org;
  }

  async register(fnName: string, path: string, spec: object = {}): Promise<void> {
    const body = { url: this.org.vendor.url + path, headers: { 'x-test-org': this.org.orgId }, ...spec };
    const answer = await this.org.request('PUT', `/v1/compensations/${fnName}/1`, body);
    expect(answer.status, answer.text).toBe(201);
  }

  async open(id: string, n: number): Promise<AgentSession> {
    const agent = n % 3 === 0 ? 'concierge' : 'trip-planner';
    return this.org.open({ session_id: id, agent_name: agent, external_run_id: `run-${4200 + n}` });
  }

  async trip(n: number, end: 'completed' | 'undone' | 'open'): Promise<string> {
    const session = await this.open(`trip-2026-12-01-${String(n).padStart(4, '0')}`, n);
    for (const thing of TRIP.slice(0, 1 + (n % 3))) {
      await session.book(`/${thing}`, { tool_name: `book_${thing}` }, { fn_name: `cancel_${thing}` });
    }
    if (end === 'completed') await this.org.post(`${session.path}/complete`);
    if (end === 'undone') {
      await session.fail('the car company has no cars left');
      await session.reaches('compensated');
    }
    return session.id;
  }

  /** Its hotel refuses, or does not answer well. */
  async brokenTrip(n: number, hotel: 'grand' | 'plaza'): Promise<string> {
    const session = await this.open(`trip-2026-12-01-${String(n).padStart(4, '0')}`, n);
    await session.book('/flight', { tool_name: 'book_flight' }, { fn_name: 'cancel_flight' });
    await session.book(`/${hotel}`, { tool_name: 'book_hotel' }, { fn_name: `cancel_${hotel}` });
    await session.book('/car', { tool_name: 'book_car' }, { fn_name: 'cancel_car' });
    await session.fail('the card was declined');
    await session.reaches('halted');
    return session.id;
  }
}

const NO_PATIENCE = { retry: { max_retries: 0 }, wait_out_outages: false };

export async function openNight(redisUrl?: string): Promise<Night> {
  const world = await openWorld({ name: 'night', ...(redisUrl !== undefined && { redisUrl }) });
  const org = await world.newOrg();
  const agency = new Agency(org);
  for (const thing of TRIP) await agency.register(`cancel_${thing}`, `/${thing}`);
  for (const hotel of ['grand', 'plaza']) await agency.register(`cancel_${hotel}`, `/${hotel}`, NO_PATIENCE);
  org.vendor.always('/grand', { status: 422, body: '{"error":"no such booking"}' });
  org.vendor.always('/plaza', { status: 503 });
  const unwound = await agency.trip(2, 'undone');
  for (let n = 3; n < 24; n++) await agency.trip(n, n % 4 === 0 ? 'undone' : n % 7 === 0 ? 'open' : 'completed');
  for (let n = 30; n < 33; n++) await agency.brokenTrip(n, n === 31 ? 'plaza' : 'grand');
  const halted = await agency.brokenTrip(40, 'grand');
  await org.post('/v1/compensations/cancel_plaza/pause', { reason: 'their system is being moved tonight' });
  const [letter] = await org.deadLetters(halted);
  return {
    url: world.api.url,
    apiKey: await operatorKey(org),
    halted,
    letter: letter!.dead_letter_id,
    unwound,
    close: () => world.close(),
  };
}

async function operatorKey(org: Org): Promise<string> {
  const answer = await org.post('/v1/keys', { role: 'operator', name: 'Night shift' });
  return bodyOf<{ api_key: string }>(answer).api_key;
}
