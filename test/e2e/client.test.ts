import { NotApplied, NotExecuted, RawJson, UndoLog, UndoLogError, WillBeUndone } from '@undolog/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { openWorld, type World } from '../support/world.js';

describe('an agent that uses the client', () => {
  let world: World;
  let org: Org;
  let hop: FaultProxy;
  let client: UndoLog;
  let fnName: string;
  beforeAll(async () => {
    world = await openWorld({ name: 'client' });
    org = await world.newOrg();
    fnName = await org.compensation('/client');
    hop = new FaultProxy(world.api.url);
    await hop.listen();
    client = new UndoLog({ baseUrl: hop.url, apiKey: org.apiKey, timeoutMs: 1500 });
  });
  afterAll(async () => {
    await hop.close();
    await world.close();
  });

  const undo = () => ({ fn_name: fnName, version: '1', args: { ref: { $args: '/ref' } } });
  /** Books at the vendor, as a tool does that passes its key on. */
  const book = async ({ args, idempotencyKey }: { args: { ref: string }; idempotencyKey: string }) => {
    const headers = { 'idempotency-key': idempotencyKey, 'x-test-org': org.orgId, 'content-type': 'application/json' };
    const response = await fetch(`${world.vendor.url}/book`, { method: 'POST', headers, body: JSON.stringify(args) });
    return (await response.json()) as { ref: string };
  };
  const standing = (ref: string): boolean => world.vendor.standing(org.orgId).includes(ref);

  it('completes what went well, and has what failed undone, the last first', async () => {
    await client.session({ session_id: 'well' }, async (session) => {
      await session.call('book', { ref: 'well' }, { run: book, undo: undo() });
    });
    expect(await client.sessions.get('well')).toMatchObject({ state: 'completed' });
    expect(standing('well')).toBe(true);
    const failing = client.session({ session_id: 'badly' }, async (session) => {
      await session.call('book', { ref: 'badly-1' }, { run: book, undo: undo() });
      await session.call('book', { ref: 'badly-2' }, { run: book, undo: undo() });
      throw new Error('no car left');
    });
    await expect(failing).rejects.toThrow('no car left');
    await expect
      .poll(() => client.sessions.get('badly'))
      .toMatchObject({ state: 'compensated', failure: { reason: 'Error: no car left' } });
    expect([standing('badly-1'), standing('badly-2')]).toEqual([false, false]);
    const undone = world.vendor.ledger.undosOf('badly', org.orgId).map(({ body }) => String(body));
    expect(undone).toEqual(['{"ref":"badly-2"}', '{"ref":"badly-1"}']);
  });

  it('loses answers, and still registers once, runs once and reports once', async () => {
    let runs = 0;
    const session = await client.openSession({ session_id: 'lossy' });
    hop.fault = 'lose_answers';
    setTimeout(() => (hop.fault = 'pass'), 2000);
    const run = (call: Parameters<typeof book>[0]) => {
      runs++;
      return book(call);
    };
    await session.call('book', { ref: 'lossy' }, { run, undo: undo() });
    await session.complete();
    expect(runs).toBe(1);
    expect(await client.sessions.stack('lossy')).toHaveLength(1);
  });

  it('is never run without an execute: refused, repeated and ended calls throw instead', async () => {
    let runs = 0;
    const run = () => Promise.resolve(++runs);
    const session = await client.openSession({ session_id: 'refused' });
    await expect(session.call('book', {}, { run, undo: { ...undo(), fn_name: 'nobody' } })).rejects.toThrow(
      NotExecuted,
    );
    await expect(session.call('book', {}, { run, undo: undo() })).rejects.toThrow(NotExecuted);
    expect(runs).toBe(0);
    const options = { run, effectClass: 'safe', callId: 'once' } as const;
    expect([await session.call('count', {}, options), await session.call('count', {}, options)]).toEqual([1, 1]);
    expect(runs).toBe(1);
    await session.fail('over');
    await expect(session.call('count', {}, { run, effectClass: 'safe' })).rejects.toThrow(NotExecuted);
    expect(runs).toBe(1);
    expect(session.signal.aborted).toBe(true);
  });

  it('says that nothing was applied only where the tool knows it', async () => {
    const session = await client.openSession({ session_id: 'reports' });
    const thrown = [new NotApplied('sold out'), new Error('timeout')];
    for (const [index, error] of thrown.entries()) {
      const run = async (): Promise<never> => {
        await Promise.resolve();
        throw error;
      };
      const options = { run, undo: undo(), callId: String(index) };
      await expect(session.call('book', { ref: `reports-${index}` }, options)).rejects.toBe(error);
    }
    const [unknown, notApplied] = await client.sessions.stack('reports');
    expect([notApplied!.state, unknown!.state]).toEqual(['skipped', 'pending']);
  });

  it('is told when its session has ended while the tool ran, and that is undone', async () => {
    const session = await client.openSession({ session_id: 'overtaken' });
    const slow = async (call: Parameters<typeof book>[0]) => {
      await client.sessions.cancel('overtaken', { reason: 'changed my mind' });
      return book(call);
    };
    await expect(session.call('book', { ref: 'overtaken' }, { run: slow, undo: undo() })).rejects.toThrow(WillBeUndone);
    await expect.poll(() => standing('overtaken')).toBe(false);
  });

  it('keeps its session alive beyond the lease for as long as it works', async () => {
    const session = await client.openSession({ lease_seconds: 3 });
    await new Promise((resolve) => setTimeout(resolve, 4500));
    expect(await client.sessions.get(session.id)).toMatchObject({ state: 'active' });
    await session.complete();
  });

  it('sends JSON text as it is, and tells a refusal by its code', async () => {
    const session = await client.openSession({ session_id: 'digits' });
    const args = new RawJson('{"ref":"digits","order":9007199254740993}');
    const whole = { ...undo(), args: { $args: '' } };
    await session.call('book', args, { run: () => Promise.resolve({}), undo: whole });
    await session.fail('x');
    const undos = () => world.vendor.ledger.undosOf('digits', org.orgId).map(({ body }) => String(body));
    await expect.poll(undos).toEqual([args.text]);
    const error: unknown = await client.sessions.get('nobody').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UndoLogError);
    expect(error).toMatchObject({ status: 404, code: 'not_found' });
    expect((error as UndoLogError).requestId).toMatch(/./);
  });

  it('hears of every change once, also over connections that break', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    let listens = false;
    const listening = (async () => {
      for await (const change of client.stream({ signal: stop.signal })) {
        listens = true;
        if (change.session_id.startsWith('heard')) heard.push(`${change.session_id} ${change.state}`);
      }
    })();
    // A stream begins when it is there.
    await expect
      .poll(async () => (await (await client.openSession()).complete()) && listens, { timeout: 10_000 })
      .toBe(true);
    for (const id of ['heard-1', 'heard-2']) {
      await (await client.openSession({ session_id: id })).complete();
      await expect.poll(() => heard, { timeout: 10_000 }).toContain(`${id} completed`);
      hop.fault = 'cut';
      await new Promise((resolve) => setTimeout(resolve, 100));
      hop.fault = 'pass';
    }
    stop.abort();
    await listening;
    expect(heard).toEqual(['heard-1 completed', 'heard-2 completed']);
  });
});
