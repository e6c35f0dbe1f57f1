import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';
import { UnreadableValue, type Fingerprint, type Place, type Unsealed, type Vault } from '../domain/vault.js';

/**
 * Sealed: format 1, key id, nonce, ciphertext, tag. Whatever begins with another byte was written without a key and
 * is taken as it is; no JSON text begins with the byte 1.
 */
const SEALED = 1;
const KEY_ID_BYTES = 8;
const NONCE_START = 1 + KEY_ID_BYTES;
const TEXT_START = NONCE_START + 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** A fingerprint without a key is a plain SHA-256; one with a key is longer: format 1, key id, HMAC. */
const PLAIN_FINGERPRINT_BYTES = 32;

const MAX_ORGS_KEPT = 10_000;

interface OrgKeys {
  readonly sealing: Buffer;
  readonly fingerprints: Buffer;
}

/**
 * A key of the installation. Each org has its own two keys derived from it, so that no org's values use up the nonces of
 * another's, and equal bodies of two orgs don't look alike.
 */
class MasterKey {
  readonly id: Buffer;
  readonly #bytes: Uint8Array;
  readonly #orgs = new Map<string, OrgKeys>();

  constructor(bytes: Uint8Array) {
    this.id = hash('sha256', bytes, 'buffer').subarray(0, KEY_ID_BYTES);
    this.#bytes = bytes;
  }

  of(orgId: string): OrgKeys {
    const known = this.#orgs.get(orgId);
    if (known) return known;
    const derive = (use: string): Buffer =>
      Buffer.from(hkdfSync('sha256', this.#bytes, '', `undolog ${use} ${orgId}`, 32));
    const keys = { sealing: derive('sealing'), fingerprints: derive('fingerprints') };
    if (this.#orgs.size >= MAX_ORGS_KEPT) this.#orgs.clear();
    this.#orgs.set(orgId, keys);
    return keys;
  }
}

/** What ties a sealed value to its place. Only the row can hold a space, and it comes last. */
function bond({ column, orgId, row }: Place): Buffer {
  return Buffer.from(`${column} ${orgId} ${row}`, 'utf8');
}

function seal(key: MasterKey, place: Place, text: string): Buffer {
  const nonce = randomBytes(TEXT_START - NONCE_START);
  const cipher = createCipheriv(CIPHER, key.of(place.orgId).sealing, nonce).setAAD(bond(place));
  return Buffer.concat([
    Buffer.of(SEALED),
    key.id,
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

function unseal(key: MasterKey, place: Place, bytes: Uint8Array): Unsealed {
  const textEnd = bytes.length - TAG_BYTES;
  if (textEnd < TEXT_START) return { ok: false, fault: 'value_damaged' };
  const nonce = bytes.subarray(NONCE_START, TEXT_START);
  const decipher = createDecipheriv(CIPHER, key.of(place.orgId).sealing, nonce)
    .setAAD(bond(place))
    .setAuthTag(bytes.subarray(textEnd));
  const text = decipher.update(bytes.subarray(TEXT_START, textEnd));
  try {
    return { ok: true, text: Buffer.concat([text, decipher.final()]).toString('utf8') };
  } catch {
    return { ok: false, fault: 'value_damaged' };
  }
}

function fingerprintWith(key: MasterKey, orgId: string, text: string): Buffer {
  const mac = createHmac('sha256', key.of(orgId).fingerprints).update(text, 'utf8').digest();
  return Buffer.concat([Buffer.of(SEALED), key.id, mac]);
}

const idOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(1, NONCE_START)).toString('latin1');

/**
 * Seals with `key` and opens with it or any of `previous`, whichever a value names. Without a key values stay as they
 * are, and those that were sealed can't be read.
 */
export function createVault(key: Uint8Array | undefined, previous: readonly Uint8Array[] = []): Vault {
  const present = key && new MasterKey(key);
  const keys = new Map(
    [...previous.map((bytes) => new MasterKey(bytes)), ...(present ? [present] : [])].map((one) => [
      one.id.toString('latin1'),
      one,
    ]),
  );
  return {
    hasKey: present !== undefined,
    seal: (place, text) => (present ? seal(present, place, text) : Buffer.from(text, 'utf8')),
    unseal(place, bytes) {
      if (bytes[0] !== SEALED) return { ok: true, text: Buffer.from(bytes).toString('utf8') };
      const its = keys.get(idOf(bytes));
      return its ? unseal(its, place, bytes) : { ok: false, fault: 'encryption_key_missing' };
    },
    fingerprint(orgId, text): Fingerprint {
      const plain = (): Buffer => hash('sha256', text, 'buffer');
      return {
        bytes: present ? fingerprintWith(present, orgId, text) : plain(),
        matches(kept) {
          if (kept.length === PLAIN_FINGERPRINT_BYTES) return plain().equals(kept);
          const its = keys.get(idOf(kept));
          if (!its) throw new UnreadableValue('encryption_key_missing');
          return fingerprintWith(its, orgId, text).equals(kept);
        },
      };
    },
  };
}
