import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillTemplate } from '@undolog/shared/vendor/url-template';
import { compensation, undoCall } from '../support/undo-call.js';

const BASE = 'https://vendor.example';
const fill = (template: string, args: string): string | undefined =>
  fillTemplate(`${BASE}${template}`, undoCall(compensation({ url: BASE }), { body: args }))?.slice(BASE.length);

describe('a URL template', () => {
  test('is filled with arguments at any depth, the undo id and the key of the forward call', () => {
    const call = undoCall(compensation({ url: BASE }), { body: '{"a":{"b":{"c":"x"}}}' });
    expect(fillTemplate('{args.a.b.c}/{undo_id}/{effect.idempotency_key}/{undo_id}', call)).toBe(
      `x/${call.undoId}/effect-${call.effectId}/${call.undoId}`,
    );
  });

  test.each([
    ['"a b/c?d=e&f#g%h"', 'a%20b%2Fc%3Fd%3De%26f%23g%25h'],
    ['"../../admin"', '..%2F..%2Fadmin'],
    ['"{undo_id}"', '%7Bundo_id%7D'],
    ['"$& $1"', '%24%26%20%241'],
    ['"\\u00fc\\ud83d\\ude00"', '%C3%BC%F0%9F%98%80'],
    ['"\\u0000\\r\\n"', '%00%0D%0A'],
    ['0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['1.0', '1.0'],
    ['true', 'true'],
    ['false', 'false'],
  ])('puts %s in as %s', (value, encoded) => {
    expect(fill('/b/{args.x}/', `{"x":${value}}`)).toBe(`/b/${encoded}/`);
    expect(fill('/b?x={args.x}&y=1', `{"x":${value}}`)).toBe(`/b?x=${encoded}&y=1`);
  });

  test.each([
    ['{args.x}', '{}'],
    ['{args.x}', '{"x":null}'],
    ['{args.x}', '{"x":{"y":1}}'],
    ['{args.x}', '{"x":["a"]}'],
    ['{args.x}', '{"x":"\\ud800"}'],
    ['{args.x}', '{"x":""}'],
    ['?ref={args.x}', '{"x":""}'],
    ['{args.x.0}', '{"x":["a"]}'],
    ['{args.x.length}', '{"x":"abc"}'],
    ['{args.x}', '["a"]'],
    ['{args.x}', '"x"'],
    ['{args.toString}', '{}'],
    ['{args.__proto__}', '{}'],
    ['{args}', '{"x":1}'],
    ['{args.}', '{"x":1}'],
    ['{result.x}', '{"x":1}'],
    ['{}', '{"x":1}'],
    ['{args.here}/{args.x}', '{"here":1}'],
  ])('%s has no value in %s, so nothing may be asked', (template, args) => {
    expect(fill(`/${template}`, args)).toBeUndefined();
  });

  test('has no value where it would lead to another path than the one that was registered', () => {
    for (const x of ['.', '..']) {
      const args = JSON.stringify({ x });
      for (const path of ['/b/{args.x}', '/b/{args.x}/state', '/b/{args.x}?q', '/b/{args.x}#f', '/b\\{args.x}']) {
        expect(fill(path, args), path).toBeUndefined();
      }
      expect(fill('/b?id={args.x}', args), 'in a parameter it is text').toBe(`/b?id=${x}`);
    }
    expect(fill('/b/{args.x}{args.x}?a=b', '{"x":"."}')).toBeUndefined();
    expect(fill('/b/%2E{args.x}', '{"x":"."}')).toBeUndefined();
    expect(fill('/b/{args.x}', '{"x":"..."}')).toBe('/b/...');
    expect(fill('/b/v1.{args.x}', '{"x":"."}')).toBe('/b/v1..');
    expect(fill('/a/../b/{args.x}', '{"x":"ok"}'), 'the author may write what he likes').toBe('/a/../b/ok');
  });

  test('never leads to another host or path, whatever the value', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('..', '.', '%2e%2e', '../', '\\..', '//evil'),
    );
    let filled = 0;
    fc.assert(
      fc.property(value, (x) => {
        const path = fill('/a/{args.x}/b', JSON.stringify({ x }));
        if (path === undefined) return;
        filled++;
        const url = new URL(BASE + path);
        expect(url.origin).toBe(BASE);
        const [first, second, third, ...rest] = url.pathname.slice(1).split('/');
        expect([first, decodeURIComponent(second!), third, rest]).toEqual(['a', x, 'b', []]);
      }),
    );
    expect(filled).toBeGreaterThan(10);
  });

  test('without placeholders stays as it is', () => {
    expect(fill('/a/b?c=%7B', '{}')).toBe('/a/b?c=%7B');
  });
});
