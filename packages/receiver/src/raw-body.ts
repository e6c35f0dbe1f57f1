/** The bytes as they came. `consumed`: something else has read them, and what it made of them can't be verified. */
export type RawBody = Uint8Array | 'consumed' | 'too_large';

/** What UndoLog sends at most. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<RawBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return 'too_large';
    chunks.push(chunk);
  }
  const body = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}
