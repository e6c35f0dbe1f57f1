import { collect, MAX_BODY_BYTES, type RawBody } from './raw-body.js';
import type { Endpoint } from './receiver.js';

/** The part of a request that is needed: Node's own, and what body parsers leave on it. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableDidRead: boolean;
  /** Bytes where `express.raw` ran. */
  readonly body?: unknown;
  /** Bytes where a parser's `verify` kept them. */
  readonly rawBody?: unknown;
}

interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
}

async function readBody(request: NodeRequest): Promise<RawBody> {
  for (const bytes of [request.rawBody, request.body]) {
    if (bytes instanceof Uint8Array) return bytes.byteLength > MAX_BODY_BYTES ? 'too_large' : bytes;
  }
  return request.readableDidRead ? 'consumed' : collect(request);
}

/** A handler for Express, and for Node's own `http` server. It reads the body itself, or takes the bytes of `express.raw`. */
export function toExpress(endpoint: Endpoint): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const answer = await endpoint({
      header(name) {
        const value = request.headers[name];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      readBody: () => readBody(request),
    });
    response.statusCode = answer.status;
    for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
    if (answer.body === null) response.end();
    else response.end(answer.body);
  };
}
