import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const KEY_PATTERN = /^ul_[A-Za-z0-9_-]{43}$/;

export interface FreshKey {
  /** Shown to its owner once. */
  readonly apiKey: string;
  /** What is kept of it. */
  readonly secretHash: Buffer;
}

/** A secret that nobody guesses: 43 characters. */
export function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function makeKey(): FreshKey {
  const apiKey = `ul_${makeSecret()}`;
  return { apiKey, secretHash: hashOfSecret(apiKey) };
}

/** Whether the text could be a key at all; what can't be one is not looked up. */
export function looksLikeKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** SHA-256: keys and tokens are long and random, so nothing slower is needed. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
