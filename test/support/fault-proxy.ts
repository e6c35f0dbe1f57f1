import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `pass` · `cut`: connections are refused and those that are open are reset · `black_hole`: bytes vanish both ways,
 * nobody is told · `lose_answers`: requests arrive, answers vanish · `half_close`: the other side seems to have said its
 * last word, and still listens · `reset_midway`: each connection is reset once it has carried some bytes.
 */
export type Fault = 'pass' | 'cut' | 'black_hole' | 'lose_answers' | 'half_close' | 'reset_midway';

const MIDWAY_BYTES = 4000;
const LOSES_ANSWERS: ReadonlySet<Fault> = new Set(['black_hole', 'lose_answers', 'half_close']);

/** A TCP hop that can be made faulty, between a process and its Postgres or Redis. */
export class FaultProxy {
  #target: URL;
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  readonly #server = createServer((client) => this.#join(client));
  #fault: Fault = 'pass';
  /** Added to each piece on its way, in milliseconds. */
  delayMs = 0;

  constructor(targetUrl: string) {
    this.#target = new URL(targetUrl);
  }

  /** Connections that are open stay where they are until they are reset. */
  leadTo(targetUrl: string): void {
    this.#target = new URL(targetUrl);
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** The target's address with this hop in between. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  get fault(): Fault {
    return this.#fault;
  }

  /** From now on. A connection that a black hole has swallowed bytes of is reset when the hop heals. */
  set fault(fault: Fault) {
    const broken = this.#fault !== 'pass';
    this.#fault = fault;
    if (fault === 'cut' || (fault === 'pass' && broken)) this.#resetAll();
    if (fault === 'half_close') for (const { client } of this.#pairs) client.end();
  }

  async close(): Promise<void> {
    this.#resetAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #resetAll(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  #join(client: Socket): void {
    if (this.#fault === 'cut') return void client.resetAndDestroy();
    const { hostname, port, protocol } = this.#target;
    const server = connect(Number(port) || (protocol.startsWith('redis') ? 6379 : 5432), hostname);
    const pair = { client, server };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    let carried = 0;
    const carry = (to: Socket, chunk: Buffer, lost: boolean): void => {
      carried += chunk.length;
      if (this.#fault === 'reset_midway' && carried > MIDWAY_BYTES) return void client.resetAndDestroy();
      this.#carry(to, chunk, lost);
    };
    client.on('data', (chunk) => carry(server, chunk, this.#fault === 'black_hole'));
    server.on('data', (chunk) => carry(client, chunk, LOSES_ANSWERS.has(this.#fault)));
  }

  #carry(to: Socket, chunk: Buffer, lost: boolean): void {
    if (lost || to.writableEnded) return;
    // Timers of one delay fire in the order in which they were set, so the pieces stay in order.
    if (this.delayMs > 0) setTimeout(() => to.write(chunk), this.delayMs);
    else to.write(chunk);
  }
}
