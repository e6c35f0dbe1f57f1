import { visible } from '@undolog/client/visible-text';
import { LosslessNumber, parse, stringify } from 'lossless-json';

/** A number that JavaScript would write otherwise, such as 1.0 or 2^53 + 1, stays the text that came. */
function exactNumber(text: string): number | LosslessNumber {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}

export function parseExactly(text: string): unknown {
  return parse(text, undefined, exactNumber);
}

/** JSON as it came, in which what a terminal would act on is an escape: it means the same and does nothing. */
export function visibleJson(value: unknown, indent?: number): string {
  // The breaks between lines are our own: within a string they are escapes already.
  return (stringify(value, undefined, indent) ?? 'null').split('\n').map(visible).join('\n');
}
