import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSecretName, isSecretValue, isSigningSecret } from '@undolog/shared/domain/secret-rules';
import { stage } from '../support/api-stage.js';

const signing = (bytes: number): string => `whsec_${randomBytes(bytes).toString('base64')}`;

describe('a secret', () => {
  test.each(['hotel_token', 'a', '0', 'Hotel.token-2', 'x'.repeat(100)])('may be called %s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each(['', '.', '-a', 'a b', 'a/b', 'ä', 'a\n', 'a\0', '__proto__ ', 'x'.repeat(101)])(
    'may not be called %j',
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );

  test.each(['Bearer abc', '!', '~', 'a'.repeat(4000)])('may be %s', (value) => {
    expect(isSecretValue(value)).toBe(true);
  });

  test.each(['', ' ', ' a', 'a ', 'a\r\nb', 'a\nb', 'a\0', 'ä', 'a\tb', 'a\n'])('may not be %j', (value) => {
    expect(isSecretValue(value)).toBe(false);
  });

  test('that signs is whsec_ and 24 to 64 bytes in base64', () => {
    for (const bytes of [24, 25, 26, 32, 63, 64]) expect(isSigningSecret(signing(bytes)), `${bytes}`).toBe(true);
    for (const bytes of [0, 23, 65, 66]) expect(isSigningSecret(signing(bytes)), `${bytes}`).toBe(false);
    const good = signing(24);
    for (const bad of [good.slice(6), `${good}\n`, `${good}!`, good.replace('whsec_', 'WHSEC_'), `${good}=`]) {
      expect(isSigningSecret(bad), bad).toBe(false);
    }
  });
});

describe('setting a secret', () => {
  const nothing = (): never => {
    throw new Error('nothing should have been written');
  };

  test('without an encryption key is refused: it is never kept in the clear', async () => {
    const { call, keys } = await stage(nothing);
    for (const [path, body] of [
      ['/v1/secrets/hotel_token', { value: 'Bearer c4n4ry' }],
      ['/v1/signing-secret', { secret: signing(24) }],
    ] as const) {
      const answer = await call('PUT', path, { key: keys.admin, body });
      expect([answer.status, answer.json['code']]).toEqual([422, 'encryption_key_required']);
    }
  });

  test('of a wrong form is a 400 that names the field and does not repeat the value', async () => {
    const { call, keys } = await stage(nothing);
    for (const [path, body, field] of [
      ['/v1/secrets/a%20b', { value: 'c4n4ry' }, '/name'],
      ['/v1/secrets/a', { value: 'c4n4ry\r\nx-evil: 1' }, '/value'],
      ['/v1/secrets/a', { value: ['c4n4ry'] }, '/value'],
      ['/v1/signing-secret', { secret: 'whsec_c4n4ry' }, '/secret'],
    ] as const) {
      const answer = await call('PUT', path, { key: keys.admin, body });
      expect([path, answer.status, (answer.json['errors'] as { path: string }[])[0]!.path]).toEqual([path, 400, field]);
      expect(answer.text).not.toContain('c4n4ry');
    }
  });

  test('is for admins only, and no other role learns whether a name is taken', async () => {
    const { call, keys } = await stage(nothing);
    for (const key of [keys.agent, keys.operator]) {
      expect((await call('PUT', '/v1/secrets/a', { key, body: { value: 'v' } })).status).toBe(403);
      expect((await call('PUT', '/v1/signing-secret', { key, body: { secret: signing(24) } })).status).toBe(403);
    }
    expect((await call('GET', '/v1/secrets', { key: keys.agent })).status).toBe(403);
  });
});
