/** Where one JSON string or number ends. Offsets are UTF-16 code units; -1 says that the text breaks the grammar. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;

/** `from` is the offset of the opening quote; the answer is the offset after the closing one. */
export function endOfString(text: string, from: number): number {
  const { length } = text;
  let at = from + 1;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < FIRST_PRINTABLE) return -1;
    if (code === BACKSLASH) {
      at = endOfEscape(text, at);
      if (at < 0) return -1;
    } else {
      at += 1;
    }
  }
  return -1;
}

/** `from` is the offset of a digit or of the minus sign. */
export function endOfNumber(text: string, from: number): number {
  let at = text.charCodeAt(from) === 0x2d ? from + 1 : from;
  const whole = at;
  at = endOfDigits(text, at);
  // At least one digit, and a zero in front stands alone.
  if (at === whole || (at > whole + 1 && text.charCodeAt(whole) === 0x30)) return -1;
  if (text.charCodeAt(at) === 0x2e) {
    const fraction = at + 1;
    at = endOfDigits(text, fraction);
    if (at === fraction) return -1;
  }
  const mark = text.charCodeAt(at);
  if (mark !== 0x65 && mark !== 0x45) return at;
  const sign = text.charCodeAt(at + 1);
  const exponent = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
  at = endOfDigits(text, exponent);
  return at === exponent ? -1 : at;
}

function endOfEscape(text: string, backslash: number): number {
  switch (text.charAt(backslash + 1)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return backslash + 2;
    case 'u':
      return isFourHexDigits(text, backslash + 2) ? backslash + 6 : -1;
    default:
      return -1;
  }
}

function isFourHexDigits(text: string, from: number): boolean {
  for (let at = from; at < from + 4; at += 1) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    if (!(code >= 0x30 && code <= 0x39) && !(letter >= 0x61 && letter <= 0x66)) return false;
  }
  return true;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
