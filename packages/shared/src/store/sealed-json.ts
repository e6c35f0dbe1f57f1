import { JsonText } from '../domain/json-text.js';
import { UnreadableValue, type Place, type Vault } from '../domain/vault.js';

/** The only way into a bytea column that is kept sealed. */
export function sealJson(vault: Vault, place: Place, json: JsonText | null): Uint8Array | null {
  return json === null ? null : vault.seal(place, json.text);
}

/** @throws {UnreadableValue} when the key is not here, or the value is not what was written. */
export function unsealJson(vault: Vault, place: Place, bytes: Uint8Array): JsonText;
export function unsealJson(vault: Vault, place: Place, bytes: Uint8Array | null): JsonText | null;
export function unsealJson(vault: Vault, place: Place, bytes: Uint8Array | null): JsonText | null {
  if (bytes === null) return null;
  const unsealed = vault.unseal(place, bytes);
  if (!unsealed.ok) throw new UnreadableValue(unsealed.fault);
  return new JsonText(unsealed.text);
}
