import { LosslessNumber, parse, stringify } from 'lossless-json';

/** A number that JavaScript would write otherwise, such as 1.0 or 2^53 + 1, stays the text that came. */
function exactNumber(text: string): number | LosslessNumber {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}

export function parseExactly(text: string): unknown {
  return parse(text, undefined, exactNumber);
}

/** As it came, for people: with line breaks. */
export function writeExactly(value: unknown): string {
  return stringify(value, undefined, 2) ?? '';
}
