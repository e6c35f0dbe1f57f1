import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('a vendor that accepts a call after its agent gave up', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'late_reports' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  async function story(session: AgentSession): Promise<string[]> {
    const path = `/v1/audit?session_id=${encodeURIComponent(session.id)}`;
    const { data } = await org.get<{ data: { action: string }[] }>(path);
    return data.map((line) => line.action).toReversed();
  }

  it('after the undo ran: the report brings it back and it is undone again, under another key (C36)', async () => {
    const session = await org.booked(['/c36/below']);
    const late = await session.register('/c36');
    await session.fail('the vendor takes too long');
    await session.reaches('compensated');
    expect(session.undos()).toHaveLength(2);

    const result = await session.callVendor(late);
    expect(session.standing()).toHaveLength(1);
    const answer = await session.commit(late.effect_id, result);
    expect([answer.status, bodyOf(answer)]).toMatchObject([409, { code: 'session_not_active', decision: 'undo' }]);
    await vi.waitFor(() => expect(session.standing()).toEqual([]), { timeout: 20_000 });
    const shown = await session.reaches('compensated');
    expect(shown).toMatchObject({ effects_standing: [], fully_compensated: true, undo_counts: { compensated: 2 } });

    expect(await session.calledPositions()).toEqual([2, 1, 2]);
    expect(new Set(session.undos().map((call) => call.key)).size).toBe(3);
    const [now, before] = await session.stack();
    expect([now!.generation, before!.generation, before!.superseded_by]).toEqual([2, 1, now!.undo_id]);
    expect(await story(session)).toEqual([
      'session.failed',
      'session.compensating',
      'undo.compensated',
      'undo.compensated',
      'session.compensated',
      'effect.committed_late',
      'session.compensating',
      'undo.compensated',
      'session.compensated',
    ]);
  });

  it('while the undo is under way: another undo follows it before the one below (C36)', async () => {
    let release = (): void => undefined;
    world.vendor.script('/c36-in-flight', { until: new Promise<void>((resolve) => (release = resolve)) });
    const session = await org.booked(['/c36/below']);
    const late = await session.register('/c36-in-flight');
    await session.fail('the vendor takes too long');
    await vi.waitFor(() => expect(session.undos()).toHaveLength(1), { timeout: 20_000 });

    // The undo found nothing to cancel; only now does the vendor accept the call.
    const result = await session.callVendor(late);
    expect((await session.commit(late.effect_id, result)).status).toBe(409);
    release();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 2, 1]);
    expect(new Set(session.undos().map((call) => call.key)).size).toBe(3);
    expect(session.standing()).toEqual([]);
    expect((await session.view()).effects_standing).toEqual([]);
  });
});
