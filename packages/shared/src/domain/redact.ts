import { JsonText, memberPrefix, nodeOf, nodeText, type JsonNode } from './json-text.js';

const SENSITIVE_NAME = /password|secret|token|authorization/iu;
const REDACTED = '"[redacted]"';

/**
 * The same text with the value of every member whose (decoded) name contains password, secret, token or authorization,
 * whatever its case and depth, replaced by `"[redacted]"`. Everything else stays letter by letter.
 */
export function redactText(json: JsonText): JsonText {
  // Most texts hold no such word at all. An escape could spell one, so those are always read.
  if (!json.text.includes('\\u') && !SENSITIVE_NAME.test(json.text)) return json;
  return new JsonText(redacted(nodeOf(json)));
}

function redacted(node: JsonNode): string {
  if (node.kind === 'array') return `[${node.items.map(redacted).join(',')}]`;
  if (node.kind !== 'object') return nodeText(node);
  const members = node.members.map(
    (member) => memberPrefix(member) + (SENSITIVE_NAME.test(member.key) ? REDACTED : redacted(member.value)),
  );
  return `{${members.join(',')}}`;
}
