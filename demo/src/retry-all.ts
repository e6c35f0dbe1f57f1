import { cancelName } from './compensations.js';
import type { UndoLogClient } from './undolog-client.js';

interface BulkAnswer {
  readonly applied: number;
  readonly remaining: number;
}

/** What an operator does once the hotel is back: every session that halted at its cancellations gets another round. */
export async function retryAll(client: UndoLogClient): Promise<void> {
  let answer: BulkAnswer;
  do {
    const body = { action: 'retry', filter: { fn_name: cancelName('hotel') } };
    answer = await client.post<BulkAnswer>('/v1/dead-letters/bulk', body);
  } while (answer.remaining > 0 && answer.applied > 0);
}
