/**
 * JSON that is kept as it came. `JSON.parse` rounds 9007199254740993, loses `1.0` and takes the last of two equal keys;
 * an undo must carry exactly what the agent sent. So a body is validated into a tree whose nodes point into its
 * own text, insignificant white space dropped, and every part of it can be copied out letter by letter.
 */
import type { JsonMember, JsonNode, JsonParseResult } from './json-node.js';
import { JsonReader } from './json-reader.js';
import { MAX_JSON_DEPTH } from './limits.js';

export type { JsonMember, JsonNode, JsonParseResult } from './json-node.js';

/** JSON text that has been validated and minified: number literals, escapes and key order are the sender's. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** No caller may ask for more: whoever walks a tree recurses, and must not overflow. */
const DEEPEST = 1000;

/**
 * Strict RFC 8259. Containers nested deeper than `maxDepth` (default 100, at most 1000) are `too_deep`; keys that are
 * equal once decoded are `duplicate_key`. Never throws, however hostile the text.
 */
export function parseJson(text: string, limits?: { maxDepth?: number }): JsonParseResult {
  return new JsonReader(text, Math.min(limits?.maxDepth ?? MAX_JSON_DEPTH, DEEPEST)).read();
}

/** Reads text that was validated before; what was put together from several bodies may be deeper than one body. */
export function nodeOf(json: JsonText): JsonNode {
  const parsed = parseJson(json.text, { maxDepth: DEEPEST });
  if (!parsed.ok) throw new Error(`kept JSON text is not valid: ${parsed.message}`);
  return parsed.node;
}

/** The node's text as it was written, without insignificant white space. */
export function nodeText(node: JsonNode): string {
  return node.document.text.slice(node.start, node.end);
}

/** The node as a plain JS value; numbers are rounded to doubles and `__proto__` is an own key like any other. */
export function nodeValue(node: JsonNode): unknown {
  return JSON.parse(nodeText(node));
}

/** What stands before a member's value: its key as written, and the colon. */
export function memberPrefix(member: JsonMember): string {
  return member.value.document.text.slice(member.keyStart, member.value.start);
}

/** The value under this (decoded) key; undefined when there is none or the node is no object. */
export function memberOf(node: JsonNode, key: string): JsonNode | undefined {
  return node.kind === 'object' ? node.members.find((member) => member.key === key)?.value : undefined;
}
