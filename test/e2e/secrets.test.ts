import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import type { VendorCall } from '../support/vendor-ledger.js';
import { openWorld, type World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ name: 'secrets' });
});
afterAll(() => world.close());

async function setSecret(org: Org, name: string, value: string): Promise<void> {
  const answer = await org.request('PUT', `/v1/secrets/${name}`, { value });
  expect([answer.status, answer.text]).toEqual([204, '']);
}

/** Headers that name the secret, beside the one by which the vendor's books tell orgs apart. */
const withSecret = (org: Org, name = 'hotel_token'): object => ({
  headers: { 'x-test-org': org.orgId, authorization: { secret: name } },
});

describe.concurrent('a secret', () => {
  it('is sent where a header names it, to the call and to the record, and is shown nowhere', async () => {
    const org = await world.newOrg();
    await setSecret(org, 'hotel_token', 'Bearer c4n4ry-hotel');
    const spec = {
      ...withSecret(org),
      confirm: {
        url: `${world.vendor.url}/record/{args.ref}`,
        done_when: { pointer: '/state', equals: 'cancelled' },
      },
    };
    const session = await org.booked(['/with-secret'], { spec });
    await session.fail();
    await session.reaches('compensated');
    for (const call of [...session.undos(), ...session.questionsAbout()]) {
      expect(call.headers['authorization'], call.method).toBe('Bearer c4n4ry-hotel');
    }
    expect([session.undos().length, session.questionsAbout().length]).toEqual([1, 1]);

    const names = await org.get<{ data: { name: string }[] }>('/v1/secrets');
    expect(names.data.map(({ name }) => name)).toEqual(['hotel_token']);
    for (const path of ['/v1/secrets', '/v1/compensations', '/v1/audit', `${session.path}/stack`]) {
      expect((await org.request('GET', path)).text, path).not.toContain('c4n4ry-hotel');
    }
    const { data } = await org.get<{ data: { action: string; reason: string }[] }>('/v1/audit');
    expect(data.filter(({ action }) => action === 'secret.set')).toMatchObject([{ reason: 'hotel_token' }]);
  });

  it('that does not exist is refused when a compensation names it, whatever its name is', async () => {
    const org = await world.newOrg();
    await setSecret(org, 'mine', 'v');
    const other = await world.newOrg();
    for (const [asker, secret] of [
      [org, 'nobody'],
      [org, 'no name at all\0'],
      [other, 'mine'],
    ] as const) {
      const body = { url: world.vendor.url, headers: { authorization: { secret } } };
      const answer = await asker.request('PUT', '/v1/compensations/cancel/1', body);
      expect([answer.status, bodyOf(answer)['code']]).toEqual([422, 'unknown_secret']);
    }
  });

  it('is read at undo time: a 401 halts, and the re-drive sends what was rotated since (C76)', async () => {
    const org = await world.newOrg();
    await setSecret(org, 'hotel_token', 'Bearer expired');
    world.vendor.always('/expired', { status: 401 });
    const session = await org.booked(['/expired'], { spec: withSecret(org) });
    await session.fail();
    await session.reaches('halted');
    expect(session.undos().map((call) => call.headers['authorization'])).toEqual(['Bearer expired']);

    world.vendor.heal('/expired');
    await setSecret(org, 'hotel_token', 'Bearer fresh');
    await session.retry();
    await session.reaches('compensated');
    expect(session.undos().map((call) => call.headers['authorization'])).toEqual(['Bearer expired', 'Bearer fresh']);
    expect(await session.faults()).toEqual([]);
  });

  it('is that of the entry’s own org, however the undos of two orgs interleave (C101)', async () => {
    const orgs = [await world.newOrg(), await world.newOrg()];
    const sessions = [];
    for (const org of orgs) await setSecret(org, 'hotel_token', `Bearer of ${org.orgId}`);
    for (let n = 0; n < 5; n++) {
      for (const org of orgs) {
        sessions.push(await org.booked(['/interleaved', '/interleaved'], { spec: withSecret(org) }));
      }
    }
    // The first that are called end last.
    for (let n = 0; n < sessions.length; n++) world.vendor.script('/interleaved', { delayMs: 500 - 50 * n });
    await Promise.all(sessions.map((session) => session.fail()));
    for (const session of sessions) {
      await session.reaches('compensated');
      const sent = session.undos().map((call) => call.headers['authorization']);
      expect(sent).toEqual(Array(2).fill(`Bearer of ${session.org.orgId}`));
    }
  });
});

describe.concurrent('a signing secret', () => {
  const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

  async function sign(org: Org, secret: string): Promise<void> {
    expect((await org.request('PUT', '/v1/signing-secret', { secret })).status).toBe(204);
  }

  /** Whether the library that a receiver would use takes the call for one that was signed with this secret. */
  function verifies({ headers, body }: VendorCall, secret: string): boolean {
    try {
      new Webhook(secret).verify(body.toString(), { ...headers });
      return true;
    } catch {
      return false;
    }
  }

  async function undoCalls(org: Org, path: string): Promise<VendorCall[]> {
    const session = await org.booked([path]);
    await session.fail();
    await session.reaches('compensated');
    return session.undos();
  }

  it('signs each try as Standard Webhooks says, under one webhook-id per undo', async () => {
    const org = await world.newOrg();
    const secret = newSecret();
    await sign(org, secret);
    world.vendor.script('/signed', { status: 503, delayMs: 1100 });
    const calls = await undoCalls(org, '/signed');
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(verifies(call, secret)).toBe(true);
      expect(verifies(call, newSecret())).toBe(false);
      expect(verifies({ ...call, body: Buffer.from('{"ref":"other"}') }, secret)).toBe(false);
      expect(call.headers['webhook-id']).toBe(call.key);
    }
    const [first, second] = calls.map((call) => Number(call.headers['webhook-timestamp']));
    expect(second).toBeGreaterThan(first!);
  });

  it('that was replaced goes on signing beside the new one, until its time is over or a third comes', async () => {
    const org = await world.newOrg();
    const [one, two, three] = [newSecret(), newSecret(), newSecret()];
    for (const secret of [one, two, two]) await sign(org, secret);
    const signedBy = async (): Promise<boolean[]> => {
      const [call] = await undoCalls(org, '/rotated');
      return [one, two, three].map((secret) => verifies(call!, secret));
    };
    expect(await signedBy()).toEqual([true, true, false]);

    // The compensator may go on with what it knows for a second.
    await sign(org, three);
    const becomes = (wanted: boolean[]): Promise<void> =>
      vi.waitFor(async () => expect(await signedBy()).toEqual(wanted), { timeout: 15_000 });
    await becomes([false, true, true]);
    await world.rows('UPDATE undolog_signing_secrets SET previous_until = now() WHERE org_id = $1', org.orgId);
    await becomes([false, false, true]);
    expect((await org.request('GET', '/v1/audit')).text).not.toContain('whsec_');
  });

  it('of another org, or none at all, signs nothing', async () => {
    await sign(await world.newOrg(), newSecret());
    const [call] = await undoCalls(await world.newOrg(), '/unsigned');
    expect(Object.keys(call!.headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  });
});
