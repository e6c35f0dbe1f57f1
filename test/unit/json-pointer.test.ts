import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePointer, resolvePointer } from '@undolog/shared/domain/json-pointer';
import { nodeText, parseJson, type JsonNode } from '@undolog/shared/domain/json-text';

function find(text: string, pointer: string): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.message);
  const found = resolvePointer(parsed.node, pointer);
  return found && nodeText(found);
}

const RFC_6901 =
  '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8,"~1":9,"n":null}';

describe('a pointer', () => {
  test.each([
    ['', RFC_6901],
    ['/foo', '["bar","baz"]'],
    ['/foo/0', '"bar"'],
    ['/foo/1', '"baz"'],
    ['/', '0'],
    ['/a~1b', '1'],
    ['/c%d', '2'],
    ['/e^f', '3'],
    ['/g|h', '4'],
    ['/i\\j', '5'],
    ['/k"l', '6'],
    ['/ ', '7'],
    ['/m~0n', '8'],
    ['/~01', '9'],
    ['/n', 'null'],
  ])('%j finds %s', (pointer, text) => {
    expect(find(RFC_6901, pointer)).toBe(text);
  });

  test.each([
    '/nothing',
    '/foo/2',
    '/foo/-',
    '/foo/01',
    '/foo/-1',
    '/foo/1.0',
    '/foo/ 1',
    '/foo/',
    '/foo/length',
    '/foo/99999999999999999999',
    '/foo/0/0',
    '/n/x',
    '/toString',
    '/__proto__',
  ])('%j finds nothing', (pointer) => {
    expect(find(RFC_6901, pointer)).toBeUndefined();
  });

  test.each(['foo', '#/foo', '/~', '/a~2', '/~a/b', ' /foo', '0'])('%j is malformed', (pointer) => {
    expect(parsePointer(pointer)).toBeUndefined();
    expect(find('{"foo":1,"0":2}', pointer)).toBeUndefined();
  });

  test('a __proto__ that was sent is found like any key', () => {
    expect(find('{"__proto__":{"\\u0061":1.0}}', '/__proto__/a')).toBe('1.0');
  });

  test('made from any path through any value finds that part', () => {
    const walk = (node: JsonNode, pointer: string, root: JsonNode): void => {
      expect(resolvePointer(root, pointer)).toBe(node);
      if (node.kind === 'array') node.items.forEach((item, index) => walk(item, `${pointer}/${index}`, root));
      if (node.kind !== 'object') return;
      for (const { key, value } of node.members) {
        walk(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, root);
      }
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 4, stringUnit: fc.constantFrom('~', '/', '0', '1', 'a', '"', '\\') }), (json) => {
        const parsed = parseJson(JSON.stringify(JSON.parse(json)));
        if (!parsed.ok) throw new Error(parsed.message);
        walk(parsed.node, '', parsed.node);
      }),
    );
  });
});
