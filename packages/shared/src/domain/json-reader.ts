import { endOfNumber, endOfString, isDigit } from './json-lexemes.js';
import type {
  JsonArray,
  JsonFailure,
  JsonMember,
  JsonNode,
  JsonObject,
  JsonParseResult,
  JsonScalar,
} from './json-node.js';
import { pointerStep } from './pointer-step.js';

/** Up to this many keys, comparing them one by one is quicker than a set. */
const FEW_KEYS = 8;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;

/**
 * Reads one text in one pass, validating and minifying as it goes: the text is only copied when white space was met.
 * It recurses once per nested container, so `maxDepth` is also what bounds the stack. A method that answers
 * undefined has left its reason in `failure`; on the way out every container puts its own step before the path.
 */
export class JsonReader {
  private pos = 0;
  /** White space passed so far: an offset in the minified text is `pos - dropped`. */
  private dropped = 0;
  private runStart = 0;
  private reason: JsonFailure['reason'] = 'syntax';
  private message = '';
  private path = '';
  private readonly runs: string[] = [];
  private readonly document = { text: '' };
  private readonly text: string;
  private readonly maxDepth: number;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  read(): JsonParseResult {
    let node = this.value(0);
    if (node !== undefined) {
      this.skipSpace();
      if (this.pos < this.text.length) node = this.syntax('the end of the text');
    }
    if (node === undefined) return { ok: false, reason: this.reason, message: this.message, path: this.path };
    if (this.dropped > 0) this.runs.push(this.text.slice(this.runStart));
    this.document.text = this.dropped > 0 ? this.runs.join('') : this.text;
    return { ok: true, node };
  }

  private value(depth: number): JsonNode | undefined {
    const code = this.skipSpace();
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth >= this.maxDepth) return this.fail('too_deep', `nested deeper than ${this.maxDepth} levels`);
      return code === OPEN_BRACE ? this.object(depth + 1) : this.array(depth + 1);
    }
    const start = this.pos - this.dropped;
    const kind = this.scalar(code);
    return kind && { kind, document: this.document, start, end: this.pos - this.dropped };
  }

  private scalar(code: number): JsonScalar['kind'] | undefined {
    if (code === QUOTE) return this.advance(endOfString(this.text, this.pos)) ? 'string' : this.syntax('a string');
    if (code === MINUS || isDigit(code)) {
      return this.advance(endOfNumber(this.text, this.pos)) ? 'number' : this.syntax('a number');
    }
    if (this.text.startsWith('true', this.pos)) return this.advance(this.pos + 4) ? 'boolean' : undefined;
    if (this.text.startsWith('false', this.pos)) return this.advance(this.pos + 5) ? 'boolean' : undefined;
    if (this.text.startsWith('null', this.pos)) return this.advance(this.pos + 4) ? 'null' : undefined;
    return this.syntax('a value');
  }

  private object(depth: number): JsonObject | undefined {
    const start = this.pos - this.dropped;
    const members: JsonMember[] = [];
    let seen: Set<string> | undefined;
    this.pos += 1;
    let code = this.skipSpace();
    while (code !== CLOSE_BRACE || members.length > 0) {
      const keyStart = this.pos - this.dropped;
      const key = this.key(code);
      if (key === undefined) return undefined;
      if (members.length === FEW_KEYS) seen = new Set(members.map((member) => member.key));
      if (seen === undefined ? holdsKey(members, key) : seen.has(key)) {
        this.fail('duplicate_key', 'the key appears twice in one object');
        return this.leave(key);
      }
      seen?.add(key);
      if (this.skipSpace() !== COLON) return this.syntax("':'");
      this.pos += 1;
      const value = this.value(depth);
      if (value === undefined) return this.leave(key);
      members.push({ key, keyStart, value });
      code = this.skipSpace();
      if (code === CLOSE_BRACE) break;
      if (code !== COMMA) return this.syntax("',' or '}'");
      this.pos += 1;
      code = this.skipSpace();
    }
    this.pos += 1;
    return { kind: 'object', document: this.document, start, end: this.pos - this.dropped, members };
  }

  private array(depth: number): JsonArray | undefined {
    const start = this.pos - this.dropped;
    const items: JsonNode[] = [];
    this.pos += 1;
    let code = this.skipSpace();
    while (code !== CLOSE_BRACKET || items.length > 0) {
      const item = this.value(depth);
      if (item === undefined) return this.leave(String(items.length));
      items.push(item);
      code = this.skipSpace();
      if (code === CLOSE_BRACKET) break;
      if (code !== COMMA) return this.syntax("',' or ']'");
      this.pos += 1;
    }
    this.pos += 1;
    return { kind: 'array', document: this.document, start, end: this.pos - this.dropped, items };
  }

  /** Reads a key and answers it decoded, so that `"a"` and `"\u0061"` are the same one. */
  private key(code: number): string | undefined {
    const from = this.pos;
    if (code !== QUOTE || !this.advance(endOfString(this.text, from))) return this.syntax('a key');
    const key = this.text.slice(from + 1, this.pos - 1);
    return key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key;
  }

  private advance(end: number): boolean {
    if (end < 0) return false;
    this.pos = end;
    return true;
  }

  /** Passes white space and answers the code unit that follows it; NaN at the end of the text. */
  private skipSpace(): number {
    const { text } = this;
    const from = this.pos;
    let at = from;
    let code = text.charCodeAt(at);
    if (code > 0x20) return code;
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt((at += 1));
    if (at === from) return code;
    if (from > this.runStart) this.runs.push(text.slice(this.runStart, from));
    this.runStart = at;
    this.dropped += at - from;
    this.pos = at;
    return code;
  }

  private syntax(expected: string): undefined {
    const where = this.pos < this.text.length ? `at character ${this.pos + 1}` : 'but the text ends';
    return this.fail('syntax', `expected ${expected} ${where}`);
  }

  private fail(reason: JsonFailure['reason'], message: string): undefined {
    this.reason = reason;
    this.message = message;
  }

  private leave(step: string): undefined {
    this.path = `${pointerStep(step)}${this.path}`;
  }
}

function holdsKey(members: readonly JsonMember[], key: string): boolean {
  for (const member of members) if (member.key === key) return true;
  return false;
}
