import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSession, Org } from '../support/api-client.js';
import { ledgerFaults } from '../support/vendor-ledger.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('the assertions on the vendor’s ledger can fail (C56)', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'negative_control' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('an undo that does nothing but say yes is compensated by its own word, and still stands in the books', async () => {
    world.vendor.always('/stub', { applies: false });
    const session = await org.booked(['/stub']);
    await session.fail();
    await session.reaches('compensated');
    expect((await session.stack())[0]).toMatchObject({ proof: 'answered' });
    expect(session.standing()).toEqual([`${session.id}#1`]);
  });

  it('an undo whose body is broken is called and undoes nothing', async () => {
    const session = await org.open();
    await org.compensation('/wrong-body');
    await session.book('/wrong-body', {}, { args: { reference: { $args: '/ref' } } });
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos().filter((call) => call.applied)).toHaveLength(1);
    expect(session.standing()).toEqual([`${session.id}#1`]);
  });

  /** Sends undo calls by hand, as a broken compensator would. */
  async function sendByHand(
    session: AgentSession,
    calls: readonly { key: string; effect: string; body?: string; path?: string }[],
  ): Promise<void> {
    for (const { key, effect, body = '{}', path = '/by-hand' } of calls) {
      const headers = {
        'idempotency-key': key,
        'undolog-session-id': session.id,
        'undolog-effect-id': effect,
        'x-test-org': org.orgId,
      };
      await fetch(org.vendor.url + path, { method: 'POST', headers, body });
    }
  }

  const positions = new Map([
    ['one', 1],
    ['two', 2],
    ['three', 3],
  ]);
  const [one, two, three] = ['one', 'two', 'three'].map((id) => ({ key: `undo-${id}`, effect: id }));

  it.each([
    ['a lawful unwind with a repeat', [three!, two!, two!, one!], []],
    [
      'an unwind in the order of the calls',
      [one!, two!, three!],
      ['position 2 was called after 1', 'position 3 was called after 2'],
    ],
    ['an entry that jumps the queue', [three!, one!, two!], ['position 2 was called after 1']],
    ['a new key for a repeat', [three!, { ...three!, key: 'undo-other' }], ['undo-other is not the key of an entry']],
    [
      'another body for a repeat',
      [
        { ...three!, body: '{"a":1}' },
        { ...three!, body: '{"a":2}' },
      ],
      ['undo-three was sent with two bodies'],
    ],
  ])('%s is judged so', async (_name, calls, expected) => {
    const session = await org.open();
    await sendByHand(session, calls);
    const faults = ledgerFaults(session.undos(), positions);
    expect(expected.filter((fault) => !faults.includes(fault))).toEqual([]);
    expect(faults.length > 0).toBe(expected.length > 0);
  });

  it('a second application under one key, and two entries in flight at once, are judged so', async () => {
    world.vendor.ignoresKeysAt.add('/keyless-by-hand');
    world.vendor.script('/slow-by-hand', { delayMs: 300 });
    const session = await org.open();
    await sendByHand(
      session,
      [three!, three!].map((call) => ({ ...call, path: '/keyless-by-hand' })),
    );
    await Promise.all([
      sendByHand(session, [{ ...two!, path: '/slow-by-hand' }]),
      new Promise((resolve) => setTimeout(resolve, 100)).then(() => sendByHand(session, [one!])),
    ]);
    const faults = ledgerFaults(session.undos(), positions);
    expect(faults).toEqual(['undo-three was applied twice', 'undo-one arrived while undo-two was open']);
  });
});
