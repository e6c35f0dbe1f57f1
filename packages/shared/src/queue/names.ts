/** Wake-up calls: one job per undo entry whose turn it is. */
export const COMPENSATION_QUEUE = 'session-compensation';

/** Announcements for people and their tools: one job per halted session. */
export const DEAD_LETTER_QUEUE = 'session-compensation-dead-letter';

/** Wake-up calls for alerts: one job per delivery that is due. */
export const ALERT_QUEUE = 'alert-delivery';

/** The schema of BullMQ's own tables, where the queue runs on Postgres. */
export const QUEUE_SCHEMA = 'undolog_queue';
