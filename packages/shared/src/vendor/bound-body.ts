import type { JsonText } from '../domain/json-text.js';
import { bindResult } from '../domain/references.js';

/** The arguments as they are sent, the same text on every try; undefined when the call's result is not known. */
export function boundBody(
  entry: { readonly args: JsonText; readonly needsResult: boolean },
  result: JsonText | null,
): string | undefined {
  if (!entry.needsResult) return entry.args.text;
  if (result === null) return undefined;
  const bound = bindResult(entry.args.text, result.text);
  return bound.ok ? bound.text : undefined;
}
