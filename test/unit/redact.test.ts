import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonText } from '@undolog/shared/domain/json-text';
import { redactText } from '@undolog/shared/domain/redact';

const redact = (text: string): string => redactText(new JsonText(text)).text;

describe('redaction', () => {
  test('C110: hides every value under a sensitive name, whatever its case, depth and type', () => {
    expect(
      redact('{"Password":"a","user":[{"apiTOKEN":{"x":1},"client_secret":null,"n":1.0}],"AUTHORIZATION":[1]}'),
    ).toBe(
      '{"Password":"[redacted]","user":[{"apiTOKEN":"[redacted]","client_secret":"[redacted]","n":1.0}],' +
        '"AUTHORIZATION":"[redacted]"}',
    );
  });

  test('is not fooled by a name that is spelled with escapes', () => {
    expect(redact('{"\\u0070assword":"hunter2"}')).toBe('{"\\u0070assword":"[redacted]"}');
    expect(redact('{"to\\u212aen":"hunter2"}')).toBe('{"to\\u212aen":"[redacted]"}');
  });

  test('leaves values alone that only mention such a word, and keeps them letter by letter', () => {
    const text = '{"note":"the password is in the safe","n":9007199254740993,"z":"\\u0000","__proto__":["token"]}';
    expect(redact(text)).toBe(text);
    expect(redact('"secret"')).toBe('"secret"');
  });

  test('lets no value under a sensitive name through, wherever it stands', () => {
    const name = fc.constantFrom('password', 'db_Password2', 'x-secret-y', 'Token', 'proxy-authorization');
    const inner = fc.constantFrom<unknown>('LEAK', ['LEAK'], { a: { b: 'LEAK' } }, { password: 'LEAK' });
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>(1, 'fine', null),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('tree')),
        fc.tuple(name, inner, tie('tree')).map(([key, value, other]) => ({ z: other, [key]: value })),
      ),
    }));
    let hidden = 0;
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify(value);
        const shown = redact(text);
        expect(shown).not.toContain('LEAK');
        expect(shown.includes('[redacted]')).toBe(text.includes('LEAK'));
        hidden += text.includes('LEAK') ? 1 : 0;
      }),
    );
    expect(hidden).toBeGreaterThan(5);
  });

  test('reads text that was put together and is deeper than one body may be', () => {
    expect(redact('['.repeat(250) + '{"token":1}' + ']'.repeat(250))).toContain('{"token":"[redacted]"}');
  });
});
