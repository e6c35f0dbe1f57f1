/**
 * The values of a bytea column, one per input, as one parameter and where each lies in it.
 *
 * An array of them would go over the wire as text, twice as long, and Postgres would read it letter by letter: for an
 * argument of 5 MB that took longer than all the rest of its registration. One value goes as the bytes that it is.
 */
export interface PackedBytes {
  readonly bytes: Uint8Array;
  /** Counted from 1, as SQL does; null: no value. */
  readonly starts: readonly (number | null)[];
  readonly lengths: readonly (number | null)[];
}

export function packBytes(values: readonly (Uint8Array | null)[]): PackedBytes {
  const [only] = values;
  let length = 0;
  const starts = values.map((value) => {
    const start = length + 1;
    length += value?.byteLength ?? 0;
    return value === null ? null : start;
  });
  const lengths = values.map((value) => value?.byteLength ?? null);
  if (values.length === 1 && only) return { bytes: asBuffer(only), starts, lengths };
  return { bytes: Buffer.concat(values.filter((value) => value !== null)), starts, lengths };
}

/** The driver sends only a `Buffer` as bytes. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** SQL: the value of a row; null where its start is. */
export function unpack(parameter: string, start: string, length: string): string {
  return `substring(${parameter}::bytea FROM ${start} FOR ${length})`;
}
