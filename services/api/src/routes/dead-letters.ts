import { listDeadLetters, readDeadLetter } from '@undolog/shared/store/dead-letters';
import { deadLetterView, listDeadLettersQuery } from '@undolog/shared/wire/dead-letters';
import { page } from '@undolog/shared/wire/paging';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';
import { cutPage, isTimestamp, isUuid, readCursor } from './cursor.js';

const list = defineRoute({
  method: 'get',
  path: '/v1/dead-letters',
  roles: ['operator'],
  summary: 'List halted unwinds, newest first',
  query: listDeadLettersQuery,
  answers: { 200: { description: 'A page of dead letters.', schema: page(deadLetterView) } },
  refusals: ['invalid_cursor'],
  async handle({ caller, query, resources }) {
    const cursor = readCursor(query.cursor, isTimestamp, isUuid);
    if ('refused' in cursor) return cursor.refused;
    const after = cursor.values && { haltedAt: cursor.values[0], deadLetterId: cursor.values[1] };
    const { state, limit } = query;
    const rows = await listDeadLetters(resources.database, caller.orgId, { state, limit: limit + 1, after });
    return answer(
      200,
      cutPage(rows, limit, (last) => [last.halted_at, last.dead_letter_id]),
    );
  },
});

const read = defineRoute({
  method: 'get',
  path: '/v1/dead-letters/{dead_letter_id}',
  roles: ['operator'],
  summary: 'Read a dead letter',
  answers: { 200: { description: 'The dead letter.', schema: deadLetterView } },
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const letter = await readDeadLetter(resources.database, caller.orgId, params['dead_letter_id']!);
    return letter ? answer(200, letter) : refuse('not_found');
  },
});

export const deadLetterRoutes: readonly Route[] = [list, read];
