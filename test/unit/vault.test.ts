import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UnreadableValue, type Place } from '@undolog/shared/domain/vault';
import { createVault } from '@undolog/shared/runtime/vault';

const ORG = '01990000-0000-7000-8000-000000000001';
const OTHER_ORG = '01990000-0000-7000-8000-000000000002';
const place: Place = { orgId: ORG, column: 'effect_args', row: 'e-1' };
const text = '{"card":"4242","odd":"\\ud800 ü"}';
const [key, oldKey, otherKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const damaged = { ok: false, fault: 'value_damaged' };
const missing = { ok: false, fault: 'encryption_key_missing' };

describe('the vault', () => {
  test('gives back what it sealed, and shows nothing of it: equal values look different', () => {
    const vault = createVault(key);
    const [one, two] = [vault.seal(place, text), vault.seal(place, text)];
    expect(Buffer.from(one).includes('4242')).toBe(false);
    expect(Buffer.from(one).equals(two)).toBe(false);
    expect(vault.unseal(place, one)).toEqual({ ok: true, text });
    expect(vault.unseal(place, vault.seal(place, ''))).toEqual({ ok: true, text: '' });
  });

  test.each([
    { ...place, orgId: OTHER_ORG },
    { ...place, row: 'e-2' },
    { ...place, column: 'effect_result' as const },
  ])('C101: refuses a value that was moved to another org, row or column', (elsewhere) => {
    const vault = createVault(key);
    expect(vault.unseal(elsewhere, vault.seal(place, text))).toEqual(damaged);
  });

  test('refuses a value of which any one byte was changed, or the end cut off', () => {
    const vault = createVault(key);
    const sealed = vault.seal(place, text);
    for (let at = 9; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed);
      changed[at]! ^= 1;
      expect(vault.unseal(place, changed), `byte ${at}`).toEqual(damaged);
    }
    for (let end = 9; end < sealed.length; end++) {
      expect(vault.unseal(place, sealed.subarray(0, end)), `${end} bytes`).toEqual(damaged);
    }
  });

  test('opens with a previous key what that key sealed, and seals with the present one alone', () => {
    const rotated = createVault(key, [otherKey, oldKey]);
    expect(rotated.unseal(place, createVault(oldKey).seal(place, text))).toEqual({ ok: true, text });
    expect(createVault(key).unseal(place, rotated.seal(place, text))).toEqual({ ok: true, text });
    expect(createVault(oldKey).unseal(place, rotated.seal(place, text))).toEqual(missing);
  });

  test('tells a key that is not here from a damaged value', () => {
    const sealed = createVault(oldKey).seal(place, text);
    expect(createVault(key).unseal(place, sealed)).toEqual(missing);
    expect(createVault(undefined).unseal(place, sealed)).toEqual(missing);
  });

  test('without a key keeps values as they are, and with one still reads those', () => {
    const clear = createVault(undefined);
    expect(clear.hasKey).toBe(false);
    expect(Buffer.from(clear.seal(place, text)).toString()).toBe(text);
    expect(createVault(key).unseal(place, clear.seal(place, text))).toEqual({ ok: true, text });
  });
});

describe('a fingerprint', () => {
  test('knows its text again, and differs between orgs and from a hash that anyone could make', () => {
    const vault = createVault(key);
    const { bytes } = vault.fingerprint(ORG, text);
    expect(vault.fingerprint(ORG, text).matches(bytes)).toBe(true);
    expect(vault.fingerprint(ORG, `${text} `).matches(bytes)).toBe(false);
    expect(vault.fingerprint(OTHER_ORG, text).matches(bytes)).toBe(false);
    expect(Buffer.from(bytes).includes(Buffer.from(createVault(undefined).fingerprint(ORG, text).bytes))).toBe(false);
  });

  test('made with a previous key, or before there was one, is known again', () => {
    const rotated = createVault(key, [oldKey]).fingerprint(ORG, text);
    expect(rotated.matches(createVault(oldKey).fingerprint(ORG, text).bytes)).toBe(true);
    expect(rotated.matches(createVault(undefined).fingerprint(ORG, text).bytes)).toBe(true);
    expect(rotated.matches(createVault(undefined).fingerprint(ORG, 'other').bytes)).toBe(false);
  });

  test('made with a key that is not here is neither the same nor another', () => {
    const { bytes } = createVault(oldKey).fingerprint(ORG, text);
    expect(() => createVault(key).fingerprint(ORG, text).matches(bytes)).toThrow(UnreadableValue);
  });
});
