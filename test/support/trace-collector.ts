import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Message } from './protobuf.js';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the first of its trace. */
  readonly parentId: string;
  readonly linkedIds: readonly string[];
  readonly startedAtNs: bigint;
  readonly endedAtNs: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
}

function attributesOf(pairs: readonly Message[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value] = pair.messages(2);
      return [pair.text(1)!, value!.text(1) ?? Number(value!.number(3))];
    }),
  );
}

/** The numbers are those of OTLP's `ExportTraceServiceRequest`. */
function spansIn(body: Buffer): CollectedSpan[] {
  return new Message(body).messages(1).flatMap((resourceSpans) => {
    const resource = attributesOf(resourceSpans.messages(1).flatMap((one) => one.messages(1)));
    const spans = resourceSpans.messages(2).flatMap((scopeSpans) => scopeSpans.messages(2));
    return spans.map((span) => ({
      service: String(resource['service.name']),
      name: span.text(5)!,
      traceId: span.hex(1),
      spanId: span.hex(2),
      parentId: span.hex(4),
      linkedIds: span.messages(13).map((link) => link.hex(2)),
      startedAtNs: span.number(7)!,
      endedAtNs: span.number(8)!,
      attributes: attributesOf(span.messages(9)),
    }));
  });
}

/** Takes spans over OTLP/HTTP, as a collector does. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** All that was sent, to be searched for what must not be in it. */
  readonly bodies: Buffer[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.url === '/v1/traces') this.spans.push(...spansIn(body));
      this.bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
