import { LosslessNumber, parse, stringify } from 'lossless-json';
import { visible } from '@undolog/client/visible-text';

/** A number that JavaScript would write otherwise, such as 1.0 or 2^53 + 1, stays the text that came. */
function exactNumber(text: string): number | LosslessNumber {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}

export function parseExactly(text: string): unknown {
  return parse(text, undefined, exactNumber);
}

/**
 * As it came, for people: line by line, and what would act instead of being seen is an escape, which means the same. The
 * breaks are ours; within a text they are escapes already.
 */
export function writeExactly(value: unknown): string {
  const lines = stringify(value, undefined, 2)?.split('\n') ?? [];
  return lines.map(visible).join('\n');
}
