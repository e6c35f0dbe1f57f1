/**
 * References in a compensation's arguments. `{"$args": P}` is filled when the effect is registered, `{"$result": P}`
 * when its result is known, and `{"$literal": X}` stands for X, unread. What a reference brought in is data: if it
 * holds a lookalike it is put in as a `$literal`, so that the second filling cannot mistake it for a reference.
 */
import { parsePointer, resolvePointer } from './json-pointer.js';
import { JsonText, memberPrefix, nodeOf, nodeText, nodeValue, type JsonNode } from './json-text.js';

export type Bound = { ok: true; text: string; needsResult: boolean } | { ok: false; pointer: string };
export type BoundResult = { ok: true; text: string } | { ok: false; pointer: string };

/** A small template can point at a large argument many times over; what no longer fits counts as not found. */
const MAX_INSERTED_CHARS = 32 * 1024 * 1024;

const WORDS = ['$args', '$result', '$literal'] as const;

interface Reference {
  readonly word: (typeof WORDS)[number];
  readonly value: JsonNode;
  readonly whole: JsonNode;
}

interface Unresolved {
  readonly pointer: string;
}

/**
 * Fills the `$args` of a template. While a `$result` is left, literals and lookalikes stand in the text as
 * `{"$literal": X}` and only `bindResult` may unwrap it; with none left the text is what the vendor gets. `ok: false`
 * names a pointer that finds nothing, or a malformed one of either kind: it never could.
 */
export function bindArgs(template: JsonNode, args: JsonNode): Bound {
  const needsResult = holdsResult(template);
  const asData = (node: JsonNode): string =>
    needsResult && holdsLookalike(node) ? `{"$literal":${nodeText(node)}}` : nodeText(node);
  const find = finderIn(args);
  const filled = fill(template, ({ word, value, whole }) => {
    switch (word) {
      case '$literal':
        return asData(value);
      case '$result':
        return isPointer(value) ? nodeText(whole) : { pointer: pointerText(value) };
      case '$args': {
        const found = find(value);
        return found === undefined ? { pointer: pointerText(value) } : asData(found);
      }
      default:
        return word satisfies never;
    }
  });
  return typeof filled === 'string' ? { ok: true, text: filled, needsResult } : { ok: false, ...filled };
}

/**
 * Fills the `$result` of a text that `bindArgs` made, and unwraps its literals. Both texts were validated before; the
 * outcome depends on nothing else, so every try of an entry sends the same body.
 */
export function bindResult(text: string, resultText: string): BoundResult {
  const find = finderIn(nodeOf(new JsonText(resultText)));
  const filled = fill(nodeOf(new JsonText(text)), ({ word, value }) => {
    switch (word) {
      case '$literal':
        return nodeText(value);
      case '$result': {
        const found = find(value);
        return found === undefined ? { pointer: pointerText(value) } : nodeText(found);
      }
      case '$args':
        // bindArgs leaves none; were one here, sending it unresolved would be worse than not calling.
        return { pointer: pointerText(value) };
      default:
        return word satisfies never;
    }
  });
  return typeof filled === 'string' ? { ok: true, text: filled } : { ok: false, ...filled };
}

/** Copies the node's text, asking `resolve` what to write in place of each reference. The first refusal ends it. */
function fill(node: JsonNode, resolve: (reference: Reference) => string | Unresolved): string | Unresolved {
  if (node.kind !== 'object' && node.kind !== 'array') return nodeText(node);
  const reference = referenceAt(node);
  if (reference !== undefined) return resolve(reference);
  const parts: string[] = [];
  if (node.kind === 'array') {
    for (const item of node.items) {
      const filled = fill(item, resolve);
      if (typeof filled !== 'string') return filled;
      parts.push(filled);
    }
    return `[${parts.join(',')}]`;
  }
  for (const member of node.members) {
    const filled = fill(member.value, resolve);
    if (typeof filled !== 'string') return filled;
    parts.push(memberPrefix(member) + filled);
  }
  return `{${parts.join(',')}}`;
}

/** A reference is an object with one single key; beside another key `$result` is an ordinary name. */
function referenceAt(node: JsonNode): Reference | undefined {
  if (node.kind !== 'object' || node.members.length !== 1) return undefined;
  const [member] = node.members;
  const word = WORDS.find((known) => known === member?.key);
  return word === undefined || member === undefined ? undefined : { word, value: member.value, whole: node };
}

function holdsResult(node: JsonNode): boolean {
  const reference = referenceAt(node);
  return reference === undefined ? childrenOf(node).some(holdsResult) : reference.word === '$result';
}

function holdsLookalike(node: JsonNode): boolean {
  return referenceAt(node) !== undefined || childrenOf(node).some(holdsLookalike);
}

function childrenOf(node: JsonNode): readonly JsonNode[] {
  if (node.kind === 'array') return node.items;
  return node.kind === 'object' ? node.members.map((member) => member.value) : [];
}

/** Resolves pointers in one value until what they found adds up to the limit. */
function finderIn(root: JsonNode): (pointer: JsonNode) => JsonNode | undefined {
  let leftChars = MAX_INSERTED_CHARS;
  return (pointer) => {
    const found = isPointer(pointer) ? resolvePointer(root, pointerText(pointer)) : undefined;
    if (found === undefined) return undefined;
    leftChars -= found.end - found.start;
    return leftChars < 0 ? undefined : found;
  };
}

function isPointer(value: JsonNode): boolean {
  return value.kind === 'string' && parsePointer(pointerText(value)) !== undefined;
}

/** The pointer as the caller meant it; what is no string is shown as it was written. */
function pointerText(value: JsonNode): string {
  return value.kind === 'string' ? String(nodeValue(value)) : nodeText(value);
}
