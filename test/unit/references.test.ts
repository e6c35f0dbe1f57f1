import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeText, parseJson, type JsonNode } from '@undolog/shared/domain/json-text';
import { bindArgs, bindResult } from '@undolog/shared/domain/references';

function read(text: string): JsonNode {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`${parsed.message} ${parsed.path}`);
  return parsed.node;
}

const bind = (template: string, args: string) => bindArgs(read(template), read(args));

/** Both fillings, as the entry meets them; throws when one of them refuses. */
function bindBoth(template: string, args: string, result: string): string {
  const bound = bind(template, args);
  if (!bound.ok) throw new Error(`unresolved ${bound.pointer}`);
  if (!bound.needsResult) return bound.text;
  const filled = bindResult(bound.text, result);
  if (!filled.ok) throw new Error(`unresolved ${filled.pointer}`);
  return filled.text;
}

describe('binding at registration', () => {
  test('fills $args and keeps every other letter', () => {
    expect(
      bind('{"trip":{"$args":"/trip"},"n":1.0,"z":["\\u0000",{"$args":"/n/0"}]}', '{"trip":"t-1","n":[2e0]}'),
    ).toEqual({
      ok: true,
      text: '{"trip":"t-1","n":1.0,"z":["\\u0000",2e0]}',
      needsResult: false,
    });
    expect(bind('{"$args":""}', '{"b":9007199254740993,"a":null}')).toMatchObject({
      text: '{"b":9007199254740993,"a":null}',
    });
  });

  test('leaves $result for later and says so', () => {
    expect(bind('{"trip":{"$args":"/t"},"id":{"$result":"/id"}}', '{"t":{"x":1}}')).toEqual({
      ok: true,
      text: '{"trip":{"x":1},"id":{"$result":"/id"}}',
      needsResult: true,
    });
  });

  test('null is a value, a pointer to nothing is unresolved', () => {
    expect(bind('[{"$args":"/a"}]', '{"a":null}')).toMatchObject({ ok: true, text: '[null]' });
    expect(bind('[{"$args":"/b"}]', '{"a":null}')).toEqual({ ok: false, pointer: '/b' });
    expect(bind('[{"$args":"/l/01"}]', '{"l":[1,2]}')).toEqual({ ok: false, pointer: '/l/01' });
    expect(bind('[{"$args":"/l/-"}]', '{"l":[1,2]}')).toEqual({ ok: false, pointer: '/l/-' });
  });

  test.each([
    ['{"$args":"trip"}', 'trip'],
    ['{"$args":7}', '7'],
    ['{"x":{"$args":{"$args":"/p"}}}', '{"$args":"/p"}'],
    ['[{"$result":"id"}]', 'id'],
    ['[{"$result":"/a~2"}]', '/a~2'],
    ['{"$result":null}', 'null'],
    ['{"$result":["/id"]}', '["/id"]'],
  ])('a malformed pointer in %s is refused before the tool runs', (template, pointer) => {
    expect(bind(template, '{"trip":1,"p":"/trip"}')).toEqual({ ok: false, pointer });
  });

  test.each([
    '{"__proto__":{"$other":1}}',
    '{"$result":"/a","note":1}',
    '{"$args":"/a","$literal":1}',
    '{"$literal":1,"b":2}',
    '{"$Args":"/a"}',
    '{"args":"/a"}',
    '{"a":"$args"}',
    '{}',
    '"$result"',
  ])('%s is plain data', (template) => {
    expect(bind(template, '{}')).toEqual({ ok: true, text: template, needsResult: false });
  });

  test('a reference beside plain keys of the same name, and inside __proto__, is still one', () => {
    expect(bindBoth('{"$result":{"$result":"/id"},"x":1,"__proto__":{"$args":"/a"}}', '{"a":5}', '{"id":6}')).toBe(
      '{"$result":6,"x":1,"__proto__":5}',
    );
  });

  test('a reference that is spelled with escapes is a reference', () => {
    expect(bindBoth('[{"\\u0024args":"/\\u0061"},{"\\u0024result":"/i\\u0064"}]', '{"a":1}', '{"id":2}')).toBe('[1,2]');
  });

  test('a template that multiplies a large argument is refused, not built', () => {
    const args = JSON.stringify({ big: 'x'.repeat(5_000_000) });
    const template = `[${Array.from({ length: 1000 }, () => '{"$args":"/big"}').join(',')}]`;
    expect(bind(template, args)).toEqual({ ok: false, pointer: '/big' });
    expect(bind('[{"$args":"/big"},{"$args":"/big"}]', args)).toMatchObject({ ok: true });
  });
});

describe('binding the result', () => {
  test('fills every $result from the same text, letter by letter', () => {
    expect(bindBoth('{"a":{"$result":"/id"},"b":[{"$result":""}]}', '{}', '{"id":1.50,"n":null}')).toBe(
      '{"a":1.50,"b":[{"id":1.50,"n":null}]}',
    );
  });

  test('a pointer to nothing counts as no result; null is one', () => {
    expect(bindResult('{"a":{"$result":"/id"}}', '{}')).toEqual({ ok: false, pointer: '/id' });
    expect(bindResult('{"a":{"$result":"/id"}}', 'null')).toEqual({ ok: false, pointer: '/id' });
    expect(bindResult('{"a":{"$result":"/id"}}', '{"id":null}')).toEqual({ ok: true, text: '{"a":null}' });
  });

  test('an $args that was never filled is not sent', () => {
    expect(bindResult('{"a":{"$args":"/x"}}', '{}')).toEqual({ ok: false, pointer: '/x' });
  });

  test('what looks like a reference in a result is data', () => {
    expect(bindBoth('[{"$result":"/x"}]', '{}', '{"x":{"$result":"/x"}}')).toBe('[{"$result":"/x"}]');
  });
});

describe('$literal', () => {
  test('sends its content as it is, with or without a result to come', () => {
    const literal = '{"$literal":{"$literal":{"$result":"/nothing","x":[{"$args":"/nothing"}]}}}';
    const content = '{"$literal":{"$result":"/nothing","x":[{"$args":"/nothing"}]}}';
    expect(bindBoth(literal, '{}', '{}')).toBe(content);
    expect(bindBoth(`[${literal},{"$result":""}]`, '{}', '7')).toBe(`[${content},7]`);
  });

  test('around a $result only, no result is needed', () => {
    expect(bind('{"$literal":{"$result":"/id"}}', '{}')).toEqual({
      ok: true,
      text: '{"$result":"/id"}',
      needsResult: false,
    });
  });

  test.each(['{"$result":"/id"}', '{"$args":"/id"}', '{"$literal":1}', '[{"a":{"$literal":{"$result":"/id"}}}]'])(
    'arguments that look like %s are sent as they came, before and after the result',
    (lookalike) => {
      expect(bindBoth('[{"$args":""}]', lookalike, '{}')).toBe(`[${lookalike}]`);
      expect(bindBoth('[{"$args":""},{"$result":"/id"}]', lookalike, '{"id":1}')).toBe(`[${lookalike},1]`);
    },
  );
});

describe('any template', () => {
  /** Data full of lookalikes, numbers that doubles lose, and escapes. */
  const { data } = fc.letrec<{ data: string }>((tie) => ({
    data: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('1.0', '9007199254740993', '"\\ud83d"', 'null', '"$args"', '"/a"', '{}'),
      fc.array(tie('data'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .tuple(fc.constantFrom('$args', '$result', '$literal', '\\u0024result', '__proto__', 'k'), tie('data'))
        .map(([key, value]) => `{"${key}":${value}}`),
      fc.tuple(tie('data'), tie('data')).map(([a, b]) => `{"$result":${a},"k":${b}}`),
    ),
  }));

  /** A template as `[what is sent, the template's text]`: the expectation is built beside it, not by the code under test. */
  const template = (args: string, result: string) =>
    fc.letrec<{ pair: readonly [string, string] }>((tie) => ({
      pair: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom(['1.0', '1.0'] as const, ['"\\u0000"', '"\\u0000"'] as const, ['{}', '{}'] as const),
        fc.constant([args, '{"$args":"/v"}'] as const),
        fc.constant([result, '{"$result":"/r/0"}'] as const),
        data.map((text) => [text, `{"$literal":${text}}`] as const),
        fc
          .array(tie('pair'), { maxLength: 3 })
          .map(
            (pairs) =>
              [`[${pairs.map(([sent]) => sent).join(',')}]`, `[${pairs.map(([, text]) => text).join(',')}]`] as const,
          ),
        fc
          .tuple(fc.constantFrom('k', '__proto__'), tie('pair'))
          .map(([key, [sent, text]]) => [`{"${key}":${sent}}`, `{"${key}":${text}}`] as const),
        fc
          .tuple(tie('pair'), tie('pair'))
          .map(([a, b]) => [`{"$result":${a[0]},"$args":${b[0]}}`, `{"$result":${a[1]},"$args":${b[1]}}`] as const),
      ),
    })).pair;

  test('is sent with every reference filled once and all data letter by letter', () => {
    const run = fc
      .tuple(data, data)
      .chain(([args, result]) => template(args, result).map(([sent, text]) => ({ args, result, sent, text })));
    let late = 0;
    fc.assert(
      fc.property(run, ({ args, result, sent, text }) => {
        const bound = bind(text, `{"v":${args}}`);
        if (bound.ok && bound.needsResult) late += 1;
        else expect(bound).toMatchObject({ ok: true, text: sent });
        expect(bindBoth(text, `{"v":${args}}`, `{"r":[${result}]}`)).toBe(sent);
      }),
      { numRuns: 2000 },
    );
    expect(late).toBeGreaterThan(200);
  });

  test('at the deepest that a body may be, filled with the deepest arguments and result, is still bound', () => {
    const deep = (text: string, levels: number): string => '['.repeat(levels) + text + ']'.repeat(levels);
    const filling = deep('{"$literal":1}', 99);
    const sent = bindBoth(deep('{"$args":""},{"$result":""}', 99), filling, filling);
    expect(sent).toBe(deep(`${filling},${filling}`, 99));
    expect(nodeText(read(filling))).toBe(filling);
  });
});
