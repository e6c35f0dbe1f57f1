import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Treatment = (request: SeenRequest, response: ServerResponse, socket: Socket) => unknown;

/**
 * An HTTP server that misbehaves as each test likes, down to the bytes of its connections, and keeps a ledger of the
 * requests that arrived whole.
 */
export class OddVendor {
  readonly ledger: SeenRequest[] = [];
  /** Connections since the start. */
  connections = 0;
  readonly #treatments = new Map<string, Treatment>();
  readonly #waiting: ((socket: Socket) => void)[] = [];
  readonly server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async listen(): Promise<void> {
    this.server.keepAliveTimeout = 60_000;
    this.server.on('connection', () => this.connections++);
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** How requests at this path are treated, from now on; `*` is every other path. */
  on(path: string, treatment: Treatment): void {
    this.#treatments.set(path, treatment);
  }

  seenAt(path: string): SeenRequest[] {
    return this.ledger.filter((request) => request.path === path);
  }

  /** Resolves with its connection when the next request has arrived whole. */
  nextRequest(): Promise<Socket> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method, url, headers, socket } = request;
    const seen = { method: method!, path: url!, headers, body: Buffer.concat(chunks).toString('utf8') };
    this.ledger.push(seen);
    socket.on('error', () => {});
    const treat = this.#treatments.get(seen.path) ?? this.#treatments.get('*');
    await (treat ? treat(seen, response, socket) : response.end('{}'));
    for (const resolve of this.#waiting.splice(0)) resolve(socket);
  }
}
