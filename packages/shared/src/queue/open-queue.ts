import { Queue, type ConnectionOptions } from 'bullmq';
import type { QueueBackend } from './backend.js';

/** The producer's side of one queue. Opening it writes nothing and waits for nothing. */
export function openQueue(name: string, backend: QueueBackend, prefix: string) {
  const options = {
    connection: backend.connection as ConnectionOptions,
    prefix,
    // BullMQ asks a new connection for its version and, should that fail, gives up on the queue for good; the worker's
    // connection, which waits for Redis however long it takes, does the asking.
    skipVersionCheck: true,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
    streams: { events: { maxLen: 1000 } },
  };
  return new Queue(name, options, backend.factory);
}
