import { describe, expect, test } from 'vitest';
import { classify } from '@undolog/shared/domain/classify';
import type { BodyRule, OutcomeMap } from '@undolog/shared/domain/compensation';
import { exactValue } from '@undolog/shared/domain/exact-value';
import { stringifyWithText } from '@undolog/shared/domain/json-serialize';
import { JsonText, nodeOf } from '@undolog/shared/domain/json-text';
import { sameValue } from '@undolog/shared/domain/same-value';
import type { Exchange, Verdict } from '@undolog/shared/domain/verdict';

const outcomes = (some: Partial<OutcomeMap> = {}): OutcomeMap => ({
  done: [],
  retry: [],
  permanent: [],
  body: [],
  ...some,
});
const answer = (status: number, body: string | undefined = ''): Exchange => ({
  kind: 'answer',
  status,
  body,
  retryAfter: undefined,
});

function inWords(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'done':
      return verdict.accepted ? 'accepted' : 'done';
    case 'not_sent':
      return 'did nothing';
    case 'refused':
    case 'unknown':
      return `${verdict.kind}, ${verdict.permanent ? 'one call' : 'retried'}`;
    default:
      return verdict satisfies never;
  }
}

/** What every status from 100 to 599 means, runs of equal meaning in one line. */
function table(map: OutcomeMap): string[] {
  const runs: { from: number; to: number; meaning: string }[] = [];
  for (let status = 100; status <= 599; status++) {
    const meaning = inWords(classify(answer(status), map));
    const last = runs.at(-1);
    if (last?.meaning === meaning) last.to = status;
    else runs.push({ from: status, to: status, meaning });
  }
  return runs.map(({ from, to, meaning }) => `${from === to ? from : `${from}-${to}`} ${meaning}`);
}

describe('what an answer means by its status', () => {
  test('C64: is settled for every status from 100 to 599, 408 and 425 permanent by default', () => {
    expect(table(outcomes())).toEqual([
      '100-199 unknown, retried',
      '200-201 done',
      '202 accepted',
      '203-299 done',
      '300-428 refused, one call',
      '429 refused, retried',
      '430-499 refused, one call',
      '500-599 unknown, retried',
    ]);
  });

  test('C64, C65: moves only for the statuses that the compensation lists', () => {
    expect(table(outcomes({ done: [404, 410], retry: [408, 425], permanent: [429, 501] }))).toEqual([
      '100-199 unknown, retried',
      '200-201 done',
      '202 accepted',
      '203-299 done',
      '300-403 refused, one call',
      '404 done',
      '405-407 refused, one call',
      '408 refused, retried',
      '409 refused, one call',
      '410 done',
      '411-424 refused, one call',
      '425 refused, retried',
      '426-499 refused, one call',
      '500 unknown, retried',
      '501 refused, one call',
      '502-599 unknown, retried',
    ]);
  });

  test('is kept as the code of every verdict that is not done', () => {
    for (let status = 100; status <= 599; status++) {
      const verdict = classify(answer(status), outcomes());
      if (status >= 200 && status < 300) expect(verdict.kind).toBe('done');
      else expect(verdict).toHaveProperty('code', `http_${status}`);
    }
  });

  test('leaves it open whether a 2xx or 5xx that is to be retried did something', () => {
    for (const status of [200, 202, 503]) {
      expect(classify(answer(status), outcomes({ retry: [status] })).kind).toBe('unknown');
    }
  });
});

describe('what a body means', () => {
  const judged = (rule: BodyRule, body: string | undefined, status = 200): string =>
    inWords(classify(answer(status, body), outcomes({ body: [rule] })));
  const failed: BodyRule = { pointer: '/status', equals: 'error', is: 'permanent' };

  test('C70: goes before the status and before the lists, whatever the status', () => {
    expect(judged(failed, '{"status":"error"}')).toBe('refused, one call');
    expect(judged({ ...failed, is: 'done' }, '{"status":"error"}', 500)).toBe('done');
    expect(judged({ ...failed, is: 'unknown' }, '{"status":"error"}', 409)).toBe('unknown, retried');
    const map = outcomes({ done: [409], body: [{ ...failed, is: 'retry' }] });
    expect(inWords(classify(answer(409, '{"status":"error"}'), map))).toBe('refused, retried');
  });

  test('is told by the first rule that matches', () => {
    const rules: BodyRule[] = [
      { pointer: '/a', equals: 2, is: 'permanent' },
      { pointer: '/a', exists: true, is: 'unknown' },
      { pointer: '/a', equals: 1, is: 'done' },
    ];
    expect(inWords(classify(answer(404, '{"a":1}'), outcomes({ body: rules })))).toBe('unknown, retried');
  });

  test.each([
    ['cut', undefined],
    ['empty', ''],
    ['HTML', '<html>status</html>'],
    ['JSON that breaks off', '{"status":"error"'],
    ['JSON with one name twice', '{"status":"error","status":"error"}'],
    ['nested beyond all measure', `{"status":"error","x":${'['.repeat(200_000)}`],
  ])('is left to the status when it is %s', (_name, body) => {
    expect(judged(failed, body)).toBe('done');
    expect(judged({ pointer: '', exists: true, is: 'permanent' }, body)).toBe('done');
    expect(judged({ pointer: '/status', exists: false, is: 'permanent' }, body)).toBe('done');
  });

  test.each([
    [{ pointer: '/a', equals: { x: 1, y: [1, 2] } }, '{"a":{"y":[1,2],"x":1.0}}', true],
    [{ pointer: '/a', equals: [1, 2] }, '{"a":[2,1]}', false],
    [{ pointer: '/a', equals: [1] }, '{"a":{"0":1}}', false],
    [{ pointer: '/a', equals: {} }, '{"a":{"__proto__":1}}', false],
    [{ pointer: '/a', equals: 1 }, '{"a":"1"}', false],
    [{ pointer: '/a', equals: 0 }, '{"a":false}', false],
    [{ pointer: '/a', equals: null }, '{"a":null}', true],
    [{ pointer: '/a', equals: null }, '{}', false],
    [{ pointer: '/a', in: ['x', null, { b: 1 }] }, '{"a":{"b":1}}', true],
    [{ pointer: '/a', in: ['x'] }, '{"a":["x"]}', false],
    [{ pointer: '/a', exists: true }, '{"a":null}', true],
    [{ pointer: '/a', exists: true }, '{"b":1}', false],
    [{ pointer: '/a', exists: false }, '{"a":null}', false],
    [{ pointer: '/a', exists: false }, '{"b":1}', true],
    [{ pointer: '/toString', exists: true }, '{}', false],
    [{ pointer: '/a~1b/0', equals: 'A' }, '{"a/b":["\\u0041"]}', true],
    [{ pointer: '', equals: 'gone' }, '"gone"', true],
  ])('is compared by JSON value: %j on %s is %s', (rule, body, matches) => {
    expect(judged({ ...rule, is: 'permanent' }, body)).toBe(matches ? 'refused, one call' : 'done');
  });
});

describe('a number in a rule or an answer', () => {
  const value = (text: string): unknown => exactValue(nodeOf(new JsonText(text)));

  test.each([
    ['9007199254740993', '9007199254740993', true],
    ['9007199254740993', '9007199254740992', false],
    ['9007199254740992', '9007199254740993', false],
    ['9007199254740993', '9007199254740993.0', true],
    ['9007199254740993', '90071992547409930e-1', true],
    ['9007199254740993', '"9007199254740993"', false],
    ['-9007199254740993', '9007199254740993', false],
    ['0.1', '1e-1', true],
    ['0.1', '0.10000000000000000001', false],
    ['100', '1E2', true],
    ['-0.0', '0', true],
    ['1e400', '1e400', true],
    ['1e400', '1e401', false],
    ['{"a":[9007199254740993]}', '{"a":[9007199254740993.00]}', true],
    ['{"a":[9007199254740993]}', '{"a":[9007199254740992]}', false],
  ])('is compared by its value, however many digits it has: %s and %s are the same: %s', (rule, answered, same) => {
    expect(sameValue(value(rule), value(answered))).toBe(same);
    const body: BodyRule = { pointer: '/id', equals: value(rule), is: 'permanent' };
    expect(classify(answer(200, `{"id":${answered}}`), outcomes({ body: [body] })).kind).toBe(
      same ? 'refused' : 'done',
    );
  });

  test('is written out again as it came', () => {
    const text = '{"a":9007199254740993,"b":[1,"x",null,true],"__proto__":{"c":1.5}}';
    expect(stringifyWithText(value(text))).toBe(text);
  });
});

describe('what it means that there was no answer', () => {
  test.each<[Exchange, Verdict]>([
    [{ kind: 'not_sent', error: 'ECONNREFUSED' }, { kind: 'not_sent' }],
    [
      { kind: 'blocked', error: 'x' },
      { kind: 'refused', permanent: true, code: 'url_not_allowed' },
    ],
    [
      { kind: 'no_answer', error: 'timeout' },
      { kind: 'unknown', permanent: false, code: 'outcome_unknown' },
    ],
  ])('%j', (exchange, verdict) => {
    expect(classify(exchange, outcomes({ body: [{ pointer: '', exists: false, is: 'done' }] }))).toEqual(verdict);
  });
});
