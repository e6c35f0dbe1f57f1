import { Agent, type Dispatcher } from 'undici';

export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The connections that each origin gets, one request at a time on each: what the peers' drivers use too. */
const CONNECTIONS_PER_ORIGIN = 128;
const KEEP_ALIVE_MS = 30_000;
const ANSWER_WITHIN_MS = 30_000;

/**
 * The client of every load here: JSON over kept-alive connections, through undici's dispatcher itself. The load shares
 * the machine with what it loads, so a request must cost as little as it can.
 */
export class HttpDriver {
  readonly #agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });

  /** Sends the body as JSON; any whole answer is an answer, whatever its status. Rejects when there is none. */
  send(
    method: 'GET' | 'POST' | 'PUT',
    origin: string,
    path: string,
    body?: unknown,
    headers: readonly string[] = [],
  ): Promise<JsonAnswer> {
    const typed = body === undefined || headers.includes('content-type');
    const request = { headers: typed ? [...headers] : [...JSON_TYPE, ...headers] };
    const text = body === undefined ? null : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      this.#agent.dispatch({ method, origin, path, ...request, body: text }, new AnswerReader(resolve, reject));
    });
  }

  /** Sends the body and returns that of the answer; rejects unless the status says success. */
  async mustSend(...request: Parameters<HttpDriver['send']>): Promise<unknown> {
    const { status, body } = await this.send(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[2]} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

const JSON_TYPE = ['content-type', 'application/json'];

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: JsonAnswer) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  #text = '';

  constructor(resolve: (answer: JsonAnswer) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // All that the bench reads is ASCII, so a chunk can't end within a character.
    this.#text += chunk.toString('latin1');
  }

  onResponseEnd(): void {
    try {
      this.#resolve({ status: this.#status, body: this.#text === '' ? undefined : JSON.parse(this.#text) });
    } catch (error) {
      this.#reject(error as Error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#reject(error);
  }
}
