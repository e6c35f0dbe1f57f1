import { effectKey } from '../domain/effect-key.js';
import { JsonText, memberOf, nodeOf, nodeText, nodeValue, type JsonNode } from '../domain/json-text.js';
import type { UndoCall } from './compensation-call.js';

const PLACEHOLDER = /\{([^{}]*)\}/g;

function fromArgs(body: string, path: readonly string[]): string | undefined {
  let node: JsonNode | undefined = nodeOf(new JsonText(body));
  for (const key of path) node = node && memberOf(node, key);
  if (node === undefined || node.kind === 'null' || node.kind === 'object' || node.kind === 'array') return undefined;
  // A number keeps its own digits: 9007199254740993 must not become its neighbour.
  return node.kind === 'string' ? String(nodeValue(node)) : nodeText(node);
}

function valueOf(name: string, call: UndoCall): string | undefined {
  if (name === 'undo_id') return call.undoId;
  if (name === 'effect.idempotency_key') return effectKey(call.effectId);
  const [root, ...path] = name.split('.');
  return root === 'args' && path.length > 0 ? fromArgs(call.body, path) : undefined;
}

/** What a URL parser takes for `.` and `..`: the escaped forms too, so escaping the dots would not help. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** How many segments of the path a URL parser would drop, `..` together with its neighbour. */
function dotSegments(url: string): number {
  const [path = ''] = url.split(/[?#]/, 1);
  return path.split(/[/\\]/).filter((segment) => DOT_SEGMENT.test(segment)).length;
}

/**
 * Fills `{args.a.b}`, `{effect.idempotency_key}` and `{undo_id}`, percent-encoded.
 *
 * @returns undefined when one of them has no value, or one that would ask for something else: an empty one for the list
 * instead of the thing (whose 404 could pass for "gone"), `..` for what lies above.
 */
export function fillTemplate(template: string, call: UndoCall): string | undefined {
  let complete = true;
  const url = template.replaceAll(PLACEHOLDER, (_whole, name: string) => {
    const value = valueOf(name, call);
    // A lone surrogate can't be percent-encoded, so it counts as no value.
    if (value === undefined || value === '' || !value.isWellFormed()) complete = false;
    return complete ? encodeURIComponent(value!) : '';
  });
  return complete && dotSegments(url) === dotSegments(template) ? url : undefined;
}
