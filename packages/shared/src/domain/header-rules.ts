/**
 * Which headers a compensation may set. Those that carry UndoLog's own promises, and those that belong to the
 * transport, are refused; so is a value that could start another header.
 */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const RESERVED = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'idempotency-key',
  'traceparent',
]);
const RESERVED_PREFIXES = ['content-', 'undolog-', 'webhook-'];

/** Why a header may not be set, or undefined when it may. `value` is undefined when it comes from a secret. */
export function faultOfHeader(name: string, value: string | undefined): string | undefined {
  if (!NAME.test(name)) return 'is not a header name';
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'belongs to UndoLog or to the transport';
  }
  if (value !== undefined && !VALUE.test(value)) return 'has a value with characters that a header cannot carry';
  return undefined;
}
