import { openQueueBackend, type QueueLocation } from './backend.js';
import { ALERT_QUEUE, COMPENSATION_QUEUE, DEAD_LETTER_QUEUE } from './names.js';
import { openQueue } from './open-queue.js';

export interface QueueViews {
  readonly queues: readonly ReturnType<typeof openQueue>[];
  close(): Promise<void>;
}

/** Every queue, for somebody who wants to look at it as it is. */
export function openQueueViews(location: QueueLocation, onError: (error: Error) => void): QueueViews {
  const backend = openQueueBackend(location, 'viewer', onError);
  const queues = [COMPENSATION_QUEUE, DEAD_LETTER_QUEUE, ALERT_QUEUE].map((name) =>
    openQueue(name, backend, location.prefix),
  );
  for (const queue of queues) queue.on('error', onError);
  return {
    queues,
    async close() {
      await Promise.all(queues.map((queue) => queue.close()));
      backend.close();
    },
  };
}
