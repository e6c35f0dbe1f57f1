/** The shape of a parsed body: a tree whose nodes are spans of the body's own minified text. */

interface JsonDocument {
  text: string;
}

interface Span {
  /** The minified text of the whole body; `start` and `end` are offsets into it, in UTF-16 code units. */
  readonly document: Readonly<JsonDocument>;
  readonly start: number;
  readonly end: number;
}

/** `key` is decoded (`\u0061` is `a`); the key as written starts at `keyStart` and ends before the colon of `value`. */
export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly value: JsonNode;
}

export interface JsonObject extends Span {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}

export interface JsonArray extends Span {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}

export interface JsonScalar extends Span {
  readonly kind: 'string' | 'number' | 'boolean' | 'null';
}

export type JsonNode = JsonObject | JsonArray | JsonScalar;

/** `path` is the JSON pointer of the value, or of the repeated key, where reading stopped. */
export interface JsonFailure {
  readonly ok: false;
  readonly reason: 'syntax' | 'too_deep' | 'duplicate_key';
  readonly message: string;
  readonly path: string;
}

export type JsonParseResult = { readonly ok: true; readonly node: JsonNode } | JsonFailure;
