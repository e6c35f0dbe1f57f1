import { JsonText, nodeText, nodeValue, type JsonNode } from './json-text.js';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number literal in one form per value: `1.0`, `1` and `10e-1` give the same text, however many digits there are. */
export function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return NUMBER.test(literal) ? '0' : literal;
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/**
 * The node as a plain JS value, in which a number that a double would change (2^53 + 1, 1e400) stays text. `0.1` is no
 * such number: written out again it is the same.
 */
export function exactValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object': {
      // Assigned, `__proto__` would change the object; made from entries, it is a member like any other.
      return Object.fromEntries(node.members.map(({ key, value }) => [key, exactValue(value)]));
    }
    case 'array':
      return node.items.map(exactValue);
    case 'number': {
      const literal = nodeText(node);
      const value = Number(literal);
      return decimalOf(literal) === decimalOf(String(value)) ? value : new JsonText(literal);
    }
    case 'string':
    case 'boolean':
    case 'null':
      return nodeValue(node);
    default:
      return node satisfies never;
  }
}
