import { UndoLogError } from './errors.js';
import type { Transport } from './transport.js';
import type { Change } from './types.js';

export interface StreamOptions {
  /** The `id` of the last change that was seen; by default the stream begins now. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Told whenever the connection is there, or is gone and will be made again. */
  readonly onConnection?: (open: boolean) => void;
}

const RECONNECT_AFTER_MS = 1000;

/** The fields of one message, or undefined for a comment that only keeps the connection open. */
function readMessage(lines: readonly string[]): Change | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const [event, id, data] = ['event', 'id', 'data'].map((name) => fields.get(name));
  if (!data || !id || (event !== 'session' && event !== 'undo')) return undefined;
  return { ...(JSON.parse(data) as Omit<Change, 'event' | 'id'>), event, id };
}

async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Change> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const messages = rest.split('\n\n');
    rest = messages.pop()!;
    for (const message of messages) {
      const change = readMessage(message.split('\n'));
      if (change) yield change;
    }
  }
}

/** Changes of the org, each once, for as long as it is listened to: a connection that ends is opened again after the last. */
export async function* streamChanges(transport: Transport, options: StreamOptions = {}): AsyncGenerator<Change> {
  const { signal } = options;
  const stopped = (): boolean => signal?.aborted ?? false;
  let last = options.after;
  while (!stopped()) {
    try {
      const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
      const response = await transport.send({ method: 'GET', path: '/v1/stream', headers }, signal);
      if (!response.ok && response.status < 500 && response.status !== 429) {
        throw new UndoLogError(response.status, (await response.json()) as Record<string, unknown>, undefined);
      }
      if (response.ok && response.body) {
        options.onConnection?.(true);
        for await (const change of messagesOf(response.body)) {
          last = change.id;
          yield change;
        }
      }
    } catch (error) {
      if (stopped()) return;
      if (error instanceof UndoLogError) throw error;
    }
    if (stopped()) return;
    options.onConnection?.(false);
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_AFTER_MS));
  }
}
