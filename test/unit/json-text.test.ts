import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringifyWithText } from '@undolog/shared/domain/json-serialize';
import {
  parseJson,
  nodeOf,
  nodeText,
  nodeValue,
  memberOf,
  JsonText,
  type JsonNode,
} from '@undolog/shared/domain/json-text';

function read(text: string): JsonNode {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`${parsed.message} ${parsed.path}`);
  return parsed.node;
}

/** Two texts of one value: as dense as can be, and with white space wherever the grammar allows it. */
const twoTexts = fc
  .tuple(fc.json({ maxDepth: 6 }), fc.array(fc.constantFrom(' ', '\n', '\r\n', '\t', '', '  '), { minLength: 1 }))
  .map(([json, spaces]) => {
    const dense = JSON.stringify(JSON.parse(json));
    let next = 0;
    const space = (): string => spaces[next++ % spaces.length] ?? '';
    const spaced = dense.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^"[\]{},:]+/g, (token) => space() + token + space());
    return { dense, spaced };
  });

describe('the text of a value', () => {
  test('is what was sent, insignificant white space aside', () => {
    fc.assert(
      fc.property(twoTexts, ({ dense, spaced }) => {
        expect(nodeText(read(spaced))).toBe(dense);
      }),
    );
  });

  test('of every nested part is what was sent, with white space around it or not', () => {
    const check = (node: JsonNode, value: unknown): void => {
      expect(nodeText(node)).toBe(JSON.stringify(value));
      if (node.kind === 'array') node.items.forEach((item, index) => check(item, (value as unknown[])[index]));
      if (node.kind === 'object') {
        for (const member of node.members) check(member.value, (value as Record<string, unknown>)[member.key]);
      }
    };
    fc.assert(fc.property(twoTexts, ({ dense, spaced }) => check(read(spaced), JSON.parse(dense))));
  });

  test.each([
    '9007199254740993',
    '-0',
    '1.0',
    '0.10e+05',
    '1e400',
    '"\\u0000"',
    '"\\ud83d"',
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"a b\u2028\u{1f600}"',
    '"\\\\u0000"',
    '{"b":1,"a":2,"__proto__":{"x":1},"constructor":null,"\\u0063":[]}',
  ])('keeps %s letter by letter', (text) => {
    expect(nodeText(read(text))).toBe(text);
    expect(nodeText(read(` {"k" :\n${text} } `))).toBe(`{"k":${text}}`);
  });
});

describe('a parsed value', () => {
  test('is the value that JSON.parse reads', () => {
    fc.assert(
      fc.property(twoTexts, ({ dense, spaced }) => {
        expect(nodeValue(read(spaced))).toEqual(JSON.parse(dense));
      }),
    );
  });

  test('keeps __proto__ as an own key and pollutes nothing', () => {
    const value = nodeValue(read('{"__proto__":{"isAdmin":true}}')) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect((value as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  test('finds a member by its decoded key only', () => {
    expect(nodeText(memberOf(read('{"\\u0061":1}'), 'a') as JsonNode)).toBe('1');
    expect(memberOf(read('{}'), 'toString')).toBeUndefined();
    expect(memberOf(read('[1]'), '0')).toBeUndefined();
  });
});

describe('a text that is not JSON', () => {
  /** Texts one or two edits away from JSON: the border that a hand-written parser gets wrong. */
  const nearJson = fc
    .tuple(
      fc.json({ maxDepth: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[],:"\\0123456789.eE+-tfnu \t\u0001/'.split(''))), {
        maxLength: 2,
      }),
    )
    .map(([json, edits]) =>
      edits.reduce((text, [where, cut, put]) => {
        const at = where % (text.length + 1);
        return text.slice(0, at) + put + text.slice(at + cut);
      }, json),
    );

  test('is refused exactly when JSON.parse refuses it, duplicate keys aside', () => {
    let refused = 0;
    fc.assert(
      fc.property(nearJson, (text) => {
        const ours = parseJson(text);
        if (!ours.ok && ours.reason === 'duplicate_key') return;
        let theirs = true;
        try {
          JSON.parse(text);
        } catch {
          theirs = false;
          refused += 1;
        }
        expect(ours.ok).toBe(theirs);
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  test.each([
    ['', ''],
    [' ', ''],
    ['\ufeff{}', ''],
    ['{} x', ''],
    ['[1,]', '/1'],
    ['{"a":{"b":[1,tru]}}', '/a/b/1'],
    ['{"a/b~":01}', '/a~1b~0'],
    ['{"a":1,}', ''],
    ["{'a':1}", ''],
    ['"\t"', ''],
    ['"\\u12g4"', ''],
    ['"\\x"', ''],
    ['"open', ''],
    ['[1\u00a0]', ''],
    ['.5', ''],
    ['+1', ''],
    ['1.', ''],
    ['NaN', ''],
    ['[1 2]', ''],
    ['{"a" 1}', ''],
  ])('%j is refused with the path %j', (text, path) => {
    expect(parseJson(text)).toMatchObject({ ok: false, reason: 'syntax', path });
  });

  test('is told by position and expectation, never by its content', () => {
    expect(parseJson('{"secret":hunter2}')).toMatchObject({ message: 'expected a value at character 11' });
    expect(parseJson('{"a":')).toMatchObject({ message: 'expected a value but the text ends', path: '/a' });
  });
});

describe('limits', () => {
  test('100 levels are read, 101 are too deep', () => {
    expect(parseJson('['.repeat(100) + ']'.repeat(100)).ok).toBe(true);
    expect(parseJson('{"a":'.repeat(100) + '1' + '}'.repeat(100)).ok).toBe(true);
    expect(parseJson('['.repeat(101) + ']'.repeat(101))).toMatchObject({ reason: 'too_deep', path: '/0'.repeat(100) });
    expect(parseJson('{"a":[]}', { maxDepth: 1 })).toMatchObject({ reason: 'too_deep', path: '/a' });
  });

  test('200,000 levels are too deep, whatever the caller allows, and never overflow the stack', () => {
    for (const open of ['[', '{"a":', ' [ ']) {
      const text = open.repeat(200_000);
      expect(parseJson(text)).toMatchObject({ reason: 'too_deep' });
      expect(parseJson(text, { maxDepth: Number.MAX_SAFE_INTEGER })).toMatchObject({ reason: 'too_deep' });
    }
  });

  test('keys that are equal once decoded are refused, with the path of the second', () => {
    expect(parseJson('{"x":[{"a":1,"\\u0061":2}]}')).toMatchObject({ reason: 'duplicate_key', path: '/x/0/a' });
    expect(parseJson('{"__proto__":1,"__proto__":1}')).toMatchObject({ reason: 'duplicate_key' });
    expect(parseJson('{"a":{"a":1},"b":{"a":1}}').ok).toBe(true);
  });

  test('an object of 200,000 keys is read in time that grows with its length, not with its square', () => {
    const keys = Array.from({ length: 200_000 }, (_, index) => `"${index}":1`);
    const startedMs = performance.now();
    expect(parseJson(`{${keys.join(',')}}`).ok).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });

  test('a repeated key is found wherever it stands among many', () => {
    const keys = Array.from({ length: 30 }, (_, index) => `"k${index}":${index}`);
    expect(parseJson(`{${keys.join(',')}}`).ok).toBe(true);
    for (let index = 0; index < 30; index += 1) {
      const members = keys.slice(0, index + 1);
      const first = `{${members.join(',')},"k0":0}`;
      const last = `{${members.join(',')},"k${index}":0}`;
      expect(parseJson(first)).toMatchObject({ reason: 'duplicate_key', path: '/k0' });
      expect(parseJson(last)).toMatchObject({ reason: 'duplicate_key', path: `/k${index}` });
    }
  });
});

describe('writing', () => {
  test('agrees with JSON.stringify where no raw text is involved', () => {
    const anything = fc.anything({ withDate: true, withNullPrototype: true, withSparseArray: true });
    fc.assert(
      fc.property(anything, (value) => {
        expect(stringifyWithText(value)).toBe(JSON.stringify(value) ?? 'null');
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(stringifyWithText(text)).toBe(JSON.stringify(text));
      }),
    );
    expect(stringifyWithText('\ud83d "\\ \u0000')).toBe(JSON.stringify('\ud83d "\\ \u0000'));
  });

  test('puts raw text in letter by letter at any depth', () => {
    const raw = new JsonText('{"n":1.0,"z":"\\u0000","__proto__":9007199254740993}');
    expect(stringifyWithText({ a: [raw, undefined], b: undefined, c: { d: raw } })).toBe(
      `{"a":[${raw.text},null],"c":{"d":${raw.text}}}`,
    );
    expect(stringifyWithText(raw)).toBe(raw.text);
  });

  test('kept text that is not JSON is a surprise, not a value', () => {
    expect(() => nodeOf(new JsonText('{'))).toThrow('not valid');
    expect(nodeText(nodeOf(new JsonText('['.repeat(300) + ']'.repeat(300))))).toHaveLength(600);
  });
});
