/** What the queue runs on; all processes of one installation must agree. */
export type QueueKind = 'redis' | 'postgres';
