/** A field of a message as it is on the wire: a number, or bytes. */
type Field = bigint | Buffer;

/** Just enough of Protocol Buffers to read what an exporter sends: the values of each field, in their order. */
export class Message {
  readonly #fields = new Map<number, Field[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      for (let value = 0n, shift = 0n; ; shift += 7n) {
        const byte = bytes[at++]!;
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const take = (length: number): Buffer => bytes.subarray(at, (at += length));
    const read = (wireType: number): Field => {
      if (wireType === 0) return varint();
      if (wireType === 1) return take(8).readBigUInt64LE();
      if (wireType === 2) return take(Number(varint()));
      if (wireType === 5) return BigInt(take(4).readUInt32LE());
      throw new Error(`no such wire type: ${wireType}`);
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      this.#fields.set(tag >> 3, [...(this.#fields.get(tag >> 3) ?? []), read(tag & 7)]);
    }
  }

  messages(field: number): Message[] {
    return (this.#fields.get(field) ?? []).map((bytes) => new Message(bytes as Buffer));
  }

  bytes(field: number): Buffer | undefined {
    return this.#fields.get(field)?.[0] as Buffer | undefined;
  }

  number(field: number): bigint | undefined {
    return this.#fields.get(field)?.[0] as bigint | undefined;
  }

  text(field: number): string | undefined {
    return this.bytes(field)?.toString();
  }

  hex(field: number): string {
    return this.bytes(field)?.toString('hex') ?? '';
  }
}
