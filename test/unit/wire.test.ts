import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY } from '@undolog/shared/domain/compensation';
import { JsonText } from '@undolog/shared/domain/json-text';
import { putCompensationBody } from '@undolog/shared/wire/compensations';
import { failEffectBody, registerEffectBody } from '@undolog/shared/wire/effects';
import { cancelSessionBody, listSessionsQuery, openSessionBody } from '@undolog/shared/wire/sessions';

const effect = {
  tool_name: 'book_hotel',
  args: new JsonText('{"nights":2}'),
  effect_class: 'compensable',
  compensation: { fn_name: 'cancel_hotel', version: '1', args: new JsonText('{}') },
};

const accepts = (body: { schema: { safeParse(value: unknown): { success: boolean } } }, value: unknown): boolean =>
  body.schema.safeParse(value).success;

describe('bodies', () => {
  test('fill in what was left out of a session', () => {
    expect(openSessionBody.schema.parse({})).toEqual({
      on_compensation_failure: 'halt',
      lease_seconds: 900,
      max_age_seconds: 0,
    });
  });

  test('refuse unknown fields at every depth', () => {
    expect(accepts(openSessionBody, { sesion_id: 'x' })).toBe(false);
    expect(accepts(openSessionBody, { parent: { session_id: 'x', stack_position: 1, x: 1 } })).toBe(false);
    expect(accepts(registerEffectBody, { ...effect, compensation: { ...effect.compensation, retries: 1 } })).toBe(
      false,
    );
    expect(accepts(registerEffectBody, effect)).toBe(true);
  });

  test('take any printable ASCII as a session id, and nothing else', () => {
    for (const id of ['12345', 'urn:uuid:1', 'a b', '100%25', 'q?x=1&y#z', 'x'.repeat(200)]) {
      expect([id, accepts(openSessionBody, { session_id: id })]).toEqual([id, true]);
    }
    for (const id of ['', 'x'.repeat(201), 'a\u0000b', 'a\r\nb', 'é', 7, null]) {
      expect([String(id), accepts(openSessionBody, { session_id: id })]).toEqual([String(id), false]);
    }
  });

  test('C84: refuse names that Postgres could not keep as text, NUL and half emojis', () => {
    for (const name of ['a\u0000b', '\ud83d', 'x\udfff', 'line\nbreak', '', 'n'.repeat(201)]) {
      expect([JSON.stringify(name), accepts(openSessionBody, { agent_name: name })]).toEqual([
        JSON.stringify(name),
        false,
      ]);
      expect([JSON.stringify(name), accepts(registerEffectBody, { ...effect, tool_name: name })]).toEqual([
        JSON.stringify(name),
        false,
      ]);
      expect([JSON.stringify(name), accepts(registerEffectBody, { ...effect, call_id: name })]).toEqual([
        JSON.stringify(name),
        false,
      ]);
    }
    expect(accepts(openSessionBody, { agent_name: 'Zoë 🧨' })).toBe(true);
  });

  test('take positions from 0 to 2147483647, whole numbers only', () => {
    for (const good of [0, 2_147_483_647])
      expect(accepts(registerEffectBody, { ...effect, step_index: good })).toBe(true);
    for (const bad of [-1, 1.5, '7', 2_147_483_648, 2 ** 53, Number.NaN, null]) {
      expect([String(bad), accepts(registerEffectBody, { ...effect, step_index: bad })]).toEqual([String(bad), false]);
    }
  });

  test('allow a compensation on compensable effects only', () => {
    expect(accepts(registerEffectBody, { ...effect, effect_class: 'safe' })).toBe(false);
    expect(accepts(registerEffectBody, { ...effect, effect_class: 'irreversible', compensation: undefined })).toBe(
      true,
    );
    // That a compensable effect needs one is a 422, which is not for the schema to say.
    expect(accepts(registerEffectBody, { ...effect, compensation: undefined })).toBe(true);
  });

  test('take raw members only as the text that came', () => {
    expect(accepts(registerEffectBody, { ...effect, args: { nights: 2 } })).toBe(false);
    expect(accepts(cancelSessionBody, { reason: new JsonText('"bad \\u0000 \\ud800"') })).toBe(true);
    for (const text of ['7', 'null', '{}', `"${'x'.repeat(10_001)}"`]) {
      expect([text.slice(0, 9), accepts(cancelSessionBody, { reason: new JsonText(text) })]).toEqual([
        text.slice(0, 9),
        false,
      ]);
    }
    for (const [text, good] of [
      ['"declined"', true],
      ['{"m":1}', true],
      ['7', false],
      ['[]', false],
    ] as const) {
      expect([text, accepts(failEffectBody, { error: new JsonText(text), outcome: 'unknown' })]).toEqual([text, good]);
    }
  });
});

describe('a compensation', () => {
  const parse = (spec: object) =>
    putCompensationBody.schema.safeParse({ url: 'https://hotels.example/cancel', ...spec });

  test('is whole after parsing: defaults are filled in, and absent parts stay absent', () => {
    expect(parse({}).data).toEqual({
      url: 'https://hotels.example/cancel',
      method: 'POST',
      timeout_ms: 10_000,
      headers: {},
      retry: DEFAULT_RETRY,
      outcomes: { done: [], retry: [], permanent: [], body: [] },
      async: false,
      wait_out_outages: true,
      key_ttl_seconds: 86_400,
    });
    expect(parse({ retry: { max_retries: 0 } }).data?.retry).toEqual({ ...DEFAULT_RETRY, max_retries: 0 });
    expect(parse({ confirm: { url: 'https://h/x', done_on_status: [404] } }).data?.confirm).toEqual({
      url: 'https://h/x',
      done_on_status: [404],
      budget_ms: 30_000,
      interval_ms: 250,
    });
  });

  test('keeps its bounds', () => {
    const bad = [
      { method: 'GET' },
      { timeout_ms: 60_001 },
      { timeout_ms: 0 },
      { retry: { max_retries: 21 } },
      { retry: { jitter: 'some' } },
      { outcomes: { done: [99] } },
      { lookup: { url: 'https://h/x', result_pointer: 'id' } },
      { confirm: { url: 'https://h/x' } },
      { confirm: { url: 'https://h/x', done_when: { pointer: '/a' } } },
    ];
    for (const spec of bad) expect([JSON.stringify(spec), parse(spec).success]).toEqual([JSON.stringify(spec), false]);
  });

  test('has body rules with exactly one test, where null is a value', () => {
    const rule = (condition: object) =>
      parse({ outcomes: { body: [{ pointer: '/status', is: 'permanent', ...condition }] } }).success;
    expect([rule({ equals: null }), rule({ in: ['a', 'b'] }), rule({ exists: false })]).toEqual([true, true, true]);
    expect([rule({}), rule({ equals: 1, exists: true }), rule({ in: [] })]).toEqual([false, false, false]);
  });
});

describe('a list query', () => {
  test('takes a limit from 1 to 200, and 50 when none is given', () => {
    expect(listSessionsQuery.parse({}).limit).toBe(50);
    expect(listSessionsQuery.parse({ limit: '200' }).limit).toBe(200);
    for (const limit of ['0', '201', '100000', 'x', '1.5', '-1', '']) {
      expect([limit, listSessionsQuery.safeParse({ limit }).success]).toEqual([limit, false]);
    }
  });

  test('refuses a state that does not exist and a parameter that is misspelt', () => {
    expect(listSessionsQuery.safeParse({ state: 'nope' }).success).toBe(false);
    expect(listSessionsQuery.safeParse({ agentname: 'x' }).success).toBe(false);
  });
});
