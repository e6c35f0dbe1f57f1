import { memberPrefix, nodeText, type JsonMember, type JsonNode } from './json-text.js';

/**
 * The node's text with the members of every object in the order of their decoded keys (by UTF-16 code units);
 * literals, escapes and array order stay as written. Two bodies are "the same body" when these texts are equal:
 * key order does not count, `1` and `1.0` do differ.
 */
export function canonicalText(node: JsonNode): string {
  if (isInOrder(node)) return nodeText(node);
  if (node.kind === 'array') return `[${node.items.map(canonicalText).join(',')}]`;
  if (node.kind !== 'object') return nodeText(node);
  const members = [...node.members].sort(byKey);
  return `{${members.map((member) => memberPrefix(member) + canonicalText(member.value)).join(',')}}`;
}

function isInOrder(node: JsonNode): boolean {
  if (node.kind === 'array') return node.items.every(isInOrder);
  if (node.kind !== 'object') return true;
  let previous: string | undefined;
  for (const member of node.members) {
    if (previous !== undefined && previous > member.key) return false;
    previous = member.key;
    if (!isInOrder(member.value)) return false;
  }
  return true;
}

function byKey(a: JsonMember, b: JsonMember): number {
  return a.key < b.key ? -1 : 1;
}
