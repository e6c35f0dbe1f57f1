import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { OUTCOME_ROWS, type OutcomeId } from '@undolog/shared/domain/outcomes';
import type { OutcomeRow } from '@undolog/shared/domain/outcome-row';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type AgentSession, type Org, type Registered } from '../support/api-client.js';
import { outcomeScenarios, type Scenario } from '../support/outcome-scenarios.js';
import { openWorld, type World } from '../support/world.js';

/** The cases that a row holds. */
const CASES: Readonly<Partial<Record<OutcomeId, string>>> = {
  accepted: 'C57',
  accepted_confirmed: 'C57',
  done_by_code: 'C65',
  done_undone: 'C70',
  dropped_delete: 'C67',
  outlasted: 'C124',
  redirected: 'C68',
  refused: 'C64, C67',
  refused_but_shown: 'C65',
};
const ROWS = (Object.entries(OUTCOME_ROWS) as [OutcomeId, OutcomeRow][]).map(
  ([id, row]) => [id, CASES[id] ?? row.when, row] as const,
);
const QUICK = { initial_ms: 20, jitter: 'none' };

describe.concurrent('each row of docs/outcomes.md comes true, from the request to the books of the vendor:', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({
      name: 'outcomes',
      // No row is to see what another one does to the vendor's host.
      env: { UNDOLOG_BREAKER_SESSIONS: '0' },
      // What may be registered may still be refused when it is to be called.
      apiEnv: async () => ({ UNDOLOG_EGRESS_ALLOW: '127.0.0.0/8' }),
    });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  /** A session with one effect, whose undo the vendor treats as the scenario says. */
  async function prepare(path: string, scenario: Scenario): Promise<AgentSession> {
    const { spec = {}, confirm, calls = [], thenAlways, looks, effect = 'booked', undoArgs } = scenario;
    const asked = {
      url: `${world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
      budget_ms: 10_000,
      interval_ms: 50,
      ...(typeof confirm === 'object' ? confirm : {}),
    };
    world.vendor.script(path, ...calls);
    if (thenAlways) world.vendor.always(path, thenAlways);
    const fnName = await org.compensation(path, { retry: QUICK, ...spec, ...(confirm && { confirm: asked }) });
    const session = await org.open();
    if (looks) world.vendor.always(`/record/${session.id}#1`, looks);
    const undo = { fn_name: fnName, ...(undoArgs && { args: undoArgs }) };
    await MAKERS[effect](session, path, undo);
    return session;
  }

  type Make = (session: AgentSession, path: string, undo: { fn_name: string }) => Promise<unknown>;
  const MAKERS: Readonly<Record<NonNullable<Scenario['effect']>, Make>> = {
    booked: (session, path, undo) => session.book(path, {}, undo),
    unreported: (session, path, undo) => session.bookUnreported(path, {}, undo),
    never_called: (session, path, undo) => session.register(path, {}, undo),
    async not_applied(session, path, undo) {
      const { effect_id: effectId } = await session.register(path, {}, undo);
      const answer = await org.post(`/v1/effects/${effectId}/fail`, { error: 'sold out', outcome: 'not_applied' });
      expect(answer.status, answer.text).toBe(200);
    },
    async irreversible(session, path) {
      const answer = await session.tryRegister(path, { effect_class: 'irreversible', compensation: undefined });
      const { effect_id: effectId } = bodyOf<Registered>(answer);
      expect((await session.commit(effectId)).status).toBe(200);
    },
  };

  async function play(path: string, row: OutcomeRow, scenario: Scenario): Promise<void> {
    const session = await prepare(path, scenario);
    await scenario.before?.(session);
    await session.fail();
    await scenario.meanwhile?.(session);
    const halts = row.state === 'failed' || row.state === 'unconfirmed';
    const shown = await session.reaches(halts ? 'halted' : 'compensated');
    const [entry] = await session.stack();
    const code = halts ? (scenario.code ?? row.code) : null;
    expect(entry).toMatchObject({ state: row.state, code, proof: row.proof ?? null, reason: row.reason ?? null });
    expect(shown.undo_counts).toMatchObject({ [row.state]: 1 });
    expect((await org.deadLetters(session.id)).map((letter) => letter.code)).toEqual(halts ? [code] : []);
    const calls = session.undos();
    expect(calls).toHaveLength(scenario.reach);
    expect(calls.filter((call) => call.applied)).toHaveLength(scenario.applied);
    expect(await session.faults()).toEqual([]);
    expect(world.vendor.ledger.at('/elsewhere')).toEqual([]);
  }

  it.for(ROWS)('%s (%s)', async ([id, , row]) => {
    const scenarios = outcomeScenarios(world)[id];
    if (typeof scenarios === 'string') {
      const held = await readFile(fileURLToPath(new URL(`../../${scenarios}`, import.meta.url)), 'utf8');
      expect(held).toContain(row.code ?? row.state);
      return;
    }
    await Promise.all(scenarios.map((scenario, index) => play(`/outcome/${id}/${index}`, row, scenario)));
  });

  it('a number in a body rule is compared digit by digit, and shown as it was given', async () => {
    const rule = '{"pointer":"/code","equals":9007199254740993,"is":"permanent"}';
    const address = '/v1/compensations/exact/1';
    const spec = `{"url":"${world.vendor.url}/exact","retry":{"max_retries":0},"headers":{"x-test-org":"${org.orgId}"},"outcomes":{"body":[${rule}]}}`;
    const answer = await org.request('PUT', address, spec);
    expect(answer.status, answer.text).toBe(201);
    expect((await org.request('GET', address)).text).toContain(rule);
    const codes = ['9007199254740993', '9007199254740992', '9007199254740993.0'];
    world.vendor.script('/exact', ...codes.map((code) => ({ status: 500, body: `{"code":${code}}` })));
    const states: string[] = [];
    for (let n = 0; n < codes.length; n++) {
      const session = await org.open();
      await session.book('/exact', {}, { fn_name: 'exact' });
      await session.fail();
      await session.reaches('halted');
      states.push((await session.stack())[0]!.state);
    }
    expect(states).toEqual(['failed', 'unconfirmed', 'failed']);
  });

  it('somebody is told, once, when most of a window is over and the undo is halted', async () => {
    const path = '/near';
    world.vendor.always(path, { status: 422 });
    const session = await org.booked([path], { spec: { undo_deadline_seconds: 4000 } });
    await session.fail();
    await session.reaches('halted');
    await world.rows(
      `UPDATE undolog_effect_log SET committed_at = committed_at - interval '1 hour' WHERE session_id = $1`,
      session.id,
    );
    const told = async (): Promise<unknown[]> => {
      const { data } = await org.get<{ data: { action: string; undo_id: string }[] }>(
        `/v1/audit?session_id=${session.id}`,
      );
      return data.filter(({ action }) => action === 'undo.deadline_near').map((one) => one.undo_id);
    };
    const [entry] = await session.stack();
    await vi.waitFor(async () => expect(await told()).toEqual([entry!.undo_id]), { timeout: 10_000 });
    expect(await world.compensator.metric('undolog_undo_deadlines_near_total')).toBeGreaterThanOrEqual(1);
  });
});
