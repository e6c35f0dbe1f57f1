/** What secrets look like: those that are sent as header values, and those that sign calls. */

const NAME = /^\w[\w.-]{0,99}$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SIGNING_PREFIX = 'whsec_';
const MIN_SIGNING_BYTES = 24;
const MAX_SIGNING_BYTES = 64;

export function isSecretName(text: string): boolean {
  return NAME.test(text);
}

/** Visible ASCII with spaces only inside: a transport would cut them off at the ends. */
export function isSecretValue(text: string): boolean {
  return VALUE.test(text);
}

/** `whsec_` and 24 to 64 bytes in base64, as Standard Webhooks asks. */
export function isSigningSecret(text: string): boolean {
  const base64 = text.slice(SIGNING_PREFIX.length);
  if (!text.startsWith(SIGNING_PREFIX) || !BASE64.test(base64)) return false;
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  return bytes >= MIN_SIGNING_BYTES && bytes <= MAX_SIGNING_BYTES;
}
