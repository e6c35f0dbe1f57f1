import { vi } from 'vitest';
import type { Org } from './api-client.js';

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: {
    readonly session_id: string;
    readonly undo_id?: string;
    readonly state: string;
    readonly at: string;
  };
}

/** A reader of `/v1/stream`. */
export class StreamReader {
  readonly seen: StreamEvent[] = [];
  ended = false;
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  private constructor(response: Response) {
    this.#reading = this.#read(response);
  }

  static async open(
    url: string,
    by: Pick<Org, 'apiKey'> | { readonly cookie: string },
    lastEventId?: string,
  ): Promise<StreamReader> {
    const who: Record<string, string> =
      'cookie' in by ? { cookie: by.cookie } : { authorization: `Bearer ${by.apiKey}` };
    const headers = { ...who, ...(lastEventId && { 'last-event-id': lastEventId }) };
    const response = await fetch(`${url}/v1/stream`, { headers });
    if (response.status !== 200) throw new Error(`the stream answered ${response.status}`);
    return new StreamReader(response);
  }

  /** `undo compensated`, in the order in which they came, of one session. */
  of(sessionId: string): string[] {
    return this.seen
      .filter(({ data }) => data.session_id === sessionId)
      .map(({ event, data }) => `${event} ${data.state}`);
  }

  /** Waits until the session's last change is this one. */
  until(sessionId: string, change: string): Promise<void> {
    return vi.waitFor(
      () => {
        if (this.of(sessionId).at(-1) !== change) throw new Error(`saw ${this.of(sessionId).join(', ')}`);
      },
      { timeout: 15_000 },
    );
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    this.#stop.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const events = (text + part.value).split('\n\n');
        text = events.pop()!;
        for (const event of events) this.#take(event);
      }
    } catch {
      // A connection that broke has ended, as one that was closed has.
    }
    this.ended = true;
  }

  #take(event: string): void {
    const fields = new Map(
      event.split('\n').map((line) => [line.split(': ', 1)[0]!, line.slice(line.indexOf(': ') + 2)]),
    );
    const data = fields.get('data');
    if (data === undefined) return;
    this.seen.push({
      id: fields.get('id')!,
      event: fields.get('event')!,
      data: JSON.parse(data) as StreamEvent['data'],
    });
  }
}
