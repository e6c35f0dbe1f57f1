import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalText } from '@undolog/shared/domain/canonical-json';
import { parseJson } from '@undolog/shared/domain/json-text';

function canonical(text: string): string {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return canonicalText(parsed.node);
}

/** The same value with the members of every object the other way round. */
function reversed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(reversed).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)} : ${reversed(member)}`);
  return `{${members.toReversed().join(' ,')}}`;
}

describe('the same body', () => {
  test('is the same in any order of keys, at every depth, and still the same value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        const value: unknown = JSON.parse(json);
        expect(canonical(reversed(value))).toBe(canonical(JSON.stringify(value)));
        expect(JSON.parse(canonical(reversed(value)))).toEqual(value);
      }),
    );
  });

  test('C87: re-sent in another order it is recognised, and a nested change is seen', () => {
    expect(canonical('{"a":{"d":2,"c":3},"b":1}')).toBe(canonical('{ "b": 1, "a": {"c":3, "d":2} }'));
    expect(canonical('{"b":1,"a":{"d":2,"c":3}}')).not.toBe(canonical('{"b":1,"a":{"d":2,"c":4}}'));
  });

  test.each([
    ['1', '1.0'],
    ['1e2', '100'],
    ['[1,2]', '[2,1]'],
    ['"a"', '"\\u0061"'],
    ['null', '{}'],
    ['9007199254740992', '9007199254740993'],
  ])('%s and %s are different bodies', (one, other) => {
    expect(canonical(`{"k":${one}}`)).not.toBe(canonical(`{"k":${other}}`));
  });

  test('keys are in the order of their decoded code units, literals untouched', () => {
    expect(canonical('{"b":1.0,"\\u0061":2,"Z":3,"":4,"\u{1f600}":5,"\uffff":6,"10":7,"9":8,"__proto__":9}')).toBe(
      '{"":4,"10":7,"9":8,"Z":3,"__proto__":9,"\\u0061":2,"b":1.0,"\u{1f600}":5,"\uffff":6}',
    );
  });
});
