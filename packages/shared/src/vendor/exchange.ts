import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { MAX_ANSWER_BYTES } from '../domain/limits.js';
import type { Exchange } from '../domain/verdict.js';
import { answerText } from './answer-text.js';
import { EgressBlocked } from './egress-connector.js';

export interface VendorRequest {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | null;
  /** For connecting, sending, headers and the whole body together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** How vendors mark an answer that they kept under an idempotency key. */
const REPLAY_MARKS = ['idempotent-replayed', 'idempotency-replayed'];

const WORD = /^\w{1,100}$/;

/** What a failure is called in an attempt: one plain word, never a text that could quote the request. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const name = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return WORD.test(name) ? name : 'failed';
}

/** One request and what came of it. Redirects are not followed, and every failure is a value. */
export function exchange(dispatcher: Dispatcher, request: VendorRequest): Promise<Exchange> {
  return new Promise((resolve) => new Conversation(dispatcher, request, resolve).begin());
}

/**
 * waiting (for a connection) → sent (bytes may be out) → answered, failed or cut off.
 *
 * The line between waiting and sent is the one that matters: before it nothing can have happened at the vendor, after
 * it anything can.
 */
class Conversation implements Dispatcher.DispatchHandler {
  readonly #dispatcher: Dispatcher;
  readonly #request: VendorRequest;
  readonly #resolve: (result: Exchange) => void;
  readonly #onAbort = (): void => this.#cutOff('abandoned');
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #status = 0;
  #retryAfter: string | undefined;
  #location: string | undefined;
  #replayed = false;
  #coding: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(dispatcher: Dispatcher, request: VendorRequest, resolve: (result: Exchange) => void) {
    this.#dispatcher = dispatcher;
    this.#request = request;
    this.#resolve = resolve;
  }

  begin(): void {
    const { url, method, headers, body, timeoutMs, signal } = this.#request;
    this.#timer = setTimeout(() => this.#cutOff('timeout'), timeoutMs);
    if (signal?.aborted) return this.#cutOff('abandoned');
    if (signal) {
      // One signal stops all calls and waits of the process, so Node's guess of a leak at eleven listeners is wrong.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', this.#onAbort);
    }
    const path = url.pathname + url.search;
    try {
      this.#dispatcher.dispatch({ origin: url.origin, path, method, headers: headers as string[], body }, this);
    } catch (error) {
      this.#end({ kind: 'not_sent', error: nameOf(error) });
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) return controller.abort(new Error('too late'));
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    const { 'retry-after': retryAfter, 'content-encoding': coding, location } = headers;
    this.#retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
    this.#location = typeof location === 'string' ? location : undefined;
    this.#replayed = REPLAY_MARKS.some((mark) => headers[mark] === 'true');
    this.#coding = Array.isArray(coding) ? coding.join() : coding;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_ANSWER_BYTES) {
      this.#chunks.push(chunk);
      return;
    }
    this.#answer(undefined);
    controller.abort(new Error('enough was read'));
  }

  onResponseEnd(): void {
    this.#answer(answerText(this.#chunks, this.#coding));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (error instanceof EgressBlocked) return this.#end({ kind: 'blocked', error: 'url_not_allowed' });
    this.#fail(nameOf(error));
  }

  #answer(body: string | undefined): void {
    const [status, retryAfter, location] = [this.#status, this.#retryAfter, this.#location];
    this.#end({ kind: 'answer', status, body, retryAfter, location, ...(this.#replayed && { replayed: true }) });
  }

  #fail(error: string): void {
    this.#end({ kind: this.#controller ? 'no_answer' : 'not_sent', error });
  }

  #cutOff(error: string): void {
    this.#fail(error);
    this.#controller?.abort(new Error(error));
  }

  #end(result: Exchange): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#chunks = [];
    this.#resolve(result);
  }
}
