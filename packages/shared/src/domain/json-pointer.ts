import { memberOf, type JsonNode } from './json-text.js';

const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/;
const LONE_TILDE = /~(?![01])/;

/** The decoded steps of an RFC 6901 pointer; `''` is the whole value, no steps. Undefined when it is malformed. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || LONE_TILDE.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What the pointer finds; undefined when it finds nothing or is malformed. A `null` that is there is a node. */
export function resolvePointer(node: JsonNode, pointer: string): JsonNode | undefined {
  const steps = parsePointer(pointer);
  if (steps === undefined) return undefined;
  let found: JsonNode | undefined = node;
  for (const step of steps) {
    if (found === undefined) return undefined;
    found = found.kind === 'array' ? itemAt(found.items, step) : memberOf(found, step);
  }
  return found;
}

/** `-`, signs and leading zeros are no index: they find nothing. */
function itemAt(items: readonly JsonNode[], step: string): JsonNode | undefined {
  return ARRAY_INDEX.test(step) ? items[Number(step)] : undefined;
}
