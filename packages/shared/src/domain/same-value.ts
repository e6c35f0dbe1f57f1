import { decimalOf } from './exact-value.js';
import { JsonText } from './json-text.js';

/** Whether two JSON values, as `exactValue` gives them, are equal: members in any order, elements in theirs. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof JsonText && b instanceof JsonText) return decimalOf(a.text) === decimalOf(b.text);
  if (a instanceof JsonText || b instanceof JsonText) return false;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]));
}
