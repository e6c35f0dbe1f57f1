import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org, type Registered } from '../support/api-client.js';
import { testRedisUrl } from '../support/describe-redis.js';
import { queuedWakeUps } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

const FIVE_MB = 5 * 1024 * 1024;

/** Values as JSON text, exactly as an agent may write them. */
const TEXTS: Record<string, string> = {
  'a NUL in a string (C83)': String.raw`{"q":"a\u0000b"}`,
  'a NUL in a key (C83)': String.raw`{"a\u0000b":1}`,
  'six characters that only look like a NUL (C83)': String.raw`{"q":"\\u0000"}`,
  'lone surrogates (C84)': String.raw`{"q":"\ud83d","r":"x\udc00y","\ud83d":1}`,
  'integers above 2^53 (C85)': '{"order_id":9007199254740993,"max":9223372036854775807,"neg":-9007199254740993}',
  'other number literals (C85)':
    '{"amt":0.1,"one":1.0,"big":1e400,"e":1E+2,"minus_zero":-0,"long":0.1000000000000000055511151231257827}',
  'the order of keys (C87)': '{"b":1,"a":{"d":2,"c":3},"10":1,"9":2}',
  'keys that JavaScript knows (C86, C106)': '{"__proto__":{"x":1},"constructor":{"prototype":1},"toString":"x","":0}',
  'escapes as they were written (C86)': String.raw`{"a":"\/\u0041\"\\\b\f\n\r\t","b":"é\u00e9😀\ud83d\ude00"}`,
  'strings that look like references (C86)':
    '{"a":"$result","b":{"$args":"/nowhere","x":1},"c":{"$literal":1,"$result":2}}',
  'scalars and empties': '[null,true,false,0,"",[],{},[[]],{"a":{}}]',
};

let world: World;
let org: Org;
beforeAll(async () => {
  world = await openWorld({ name: 'fidelity' });
  org = await world.newOrg();
});
afterAll(() => world.close());

describe.concurrent('the endpoint gets the arguments byte for byte', () => {
  /** What the vendor got as the undo of a call with these arguments and this result. */
  async function sent(args: string, undoArgs: string, result?: string): Promise<{ body: string; stack: string }> {
    const fnName = await org.compensation('/bytes');
    const session = await org.open();
    const registered = await org.post(
      `${session.path}/effects`,
      `{"tool_name":"book","args":${args},"effect_class":"compensable",` +
        `"compensation":{"fn_name":${JSON.stringify(fnName)},"version":"1","args":${undoArgs}}}`,
    );
    expect(registered.status, registered.text).toBe(201);
    const { effect_id: id } = bodyOf<Registered>(registered);
    const committed = await org.post(`/v1/effects/${id}/commit`, result === undefined ? {} : `{"result":${result}}`);
    expect(committed.status, committed.text).toBe(200);
    await session.fail();
    await session.reaches('compensated');
    const [call] = session.undos();
    const { text: stack } = await org.request('GET', `${session.path}/stack`);
    return { body: call!.body.toString('utf8'), stack };
  }

  it.each(Object.keys(TEXTS))('%s', async (name) => {
    const text = TEXTS[name]!;
    const direct = await sent('{}', `{"$literal":${text}}`);
    expect(direct.body).toBe(text);
    const viaArgs = await sent(text, '{"$args":""}');
    expect(viaArgs.body).toBe(text);
    expect(viaArgs.stack, 'and the API shows them so').toContain(`"args":${text}`);
    const viaResult = await sent('{}', '{"was":{"$result":""}}', text);
    expect(viaResult.body).toBe(`{"was":${text}}`);
    expect(viaResult.stack).toContain(`"result":${text}`);
  });

  it('insignificant white space is all that goes', async () => {
    const { body } = await sent('{ }', ' {\n\t"a" : [ 1 ,\r 2 ] , "b c" : " kept " }\n');
    expect(body).toBe('{"a":[1,2],"b c":" kept "}');
  });

  it('what the vendor says in its error never keeps the failure from being recorded (C84)', async () => {
    const odd = Buffer.from([0x7b, 0x00, 0xff, 0xed, 0xa0, 0xbd, 0x22]).toString('latin1');
    world.vendor.always('/odd-error', { status: 400, body: odd });
    const session = await org.booked(['/odd-error']);
    await session.fail();
    await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'failed', code: 'http_400' });
  });

  it('the same call in another key order is the same call; a nested change is another (C87)', async () => {
    const fnName = await org.compensation('/same-call');
    const session = await org.open();
    const register = (args: string): ReturnType<Org['post']> =>
      org.post(
        `${session.path}/effects`,
        `{"tool_name":"book","call_id":"call-1","args":${args},"effect_class":"compensable",` +
          `"compensation":{"version":"1","args":{"$args":""},"fn_name":${JSON.stringify(fnName)}}}`,
      );
    const first = await register('{"b":1,"a":{"d":2,"c":3}}');
    expect(bodyOf(first)).toMatchObject({ decision: 'execute' });
    const again = await register('{ "a": {"c":3,"d":2}, "b": 1 }');
    expect(bodyOf(again)).toMatchObject({ decision: 'in_flight', effect_id: bodyOf(first)['effect_id'] });
    for (const changed of ['{"b":1,"a":{"d":2,"c":4}}', '{"b":1.0,"a":{"d":2,"c":3}}']) {
      const refused = await register(changed);
      expect([refused.status, bodyOf(refused)]).toMatchObject([422, { code: 'call_id_reused', decision: 'refuse' }]);
    }
    const doubled = await register('{"b":1,"b":2}');
    expect([doubled.status, bodyOf(doubled)['code']]).toEqual([400, 'duplicate_key']);
  });

  it.runIf(testRedisUrl !== undefined)('nothing of them is left in Redis afterwards (C21, C23)', async () => {
    await sent('{"canary":"c4n4ry"}', '{"$args":""}', '{"canary":"c4n4ry"}');
    for (const data of await queuedWakeUps(world)) expect(JSON.stringify(data)).not.toContain('c4n4ry');
  });
});

// Not beside the others: each takes the api's thread for a while.
describe('arguments of a size', () => {
  it('of 5 MB reach the endpoint byte for byte, on every try, while a job in the queue stays below 1 KB (C23)', async () => {
    const blob = 'x'.repeat(FIVE_MB);
    world.vendor.script('/large', { status: 503, delayMs: 800 });
    const session = await org.open();
    await session.register('/large', { args: { blob, ref: 'large' } }, { args: { all: { $args: '' } } });
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/large').length, { timeout: 15_000 }).toBe(1);
    const queued = await queuedWakeUps(world);
    expect(queued.length).toBeGreaterThan(0);
    for (const data of queued) expect(JSON.stringify(data).length).toBeLessThan(1024);
    await session.reaches('compensated');
    const bodies = world.vendor.ledger.at('/large').map((call) => call.body);
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body.equals(Buffer.from(`{"all":{"blob":"${blob}","ref":"large"}}`))).toBe(true);
  });

  it('above 8 MiB are refused before the tool runs: 413, and nothing is registered (C23)', async () => {
    const session = await org.open();
    await org.compensation('/too-large');
    const answer = await session.tryRegister('/too-large', { args: { blob: 'x'.repeat(9 * 1024 * 1024) } });
    expect([answer.status, bodyOf(answer)['code']]).toEqual([413, 'body_too_large']);
    expect(await session.stack()).toEqual([]);
  });
});
