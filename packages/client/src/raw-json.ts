/** JSON text that is sent as it is: numbers beyond 2^53 keep their digits, members their order. */
export class RawJson {
  readonly text: string;
  /** @throws {SyntaxError} when the text is not JSON. */
  constructor(text: string) {
    JSON.parse(text);
    this.text = text;
  }
}

/** `JSON.stringify`, but for texts that are JSON already. */
export function toJson(value: unknown): string | undefined {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item) ?? 'null').join(',')}]`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, member]) => {
    const text = toJson(member);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(',')}}`;
}
