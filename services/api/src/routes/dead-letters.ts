import { hostOf } from '@undolog/shared/domain/compensation';
import type { JsonText } from '@undolog/shared/domain/json-text';
import { redactText } from '@undolog/shared/domain/redact';
import { listDeadLetters, readDeadLetter, type DeadLetterView } from '@undolog/shared/store/dead-letters';
import { listCompensations } from '@undolog/shared/store/read-compensations';
import { deadLetterView, listDeadLettersQuery } from '@undolog/shared/wire/dead-letters';
import { page } from '@undolog/shared/wire/paging';
import { answer, refuse } from '../reply.js';
import type { Resources } from '../resources.js';
import { defineRoute, type Route } from '../route.js';
import { cutPage, isTimestamp, isUuid, readCursor } from './cursor.js';

/** What a person gave as evidence may hold anything; nobody sees the secrets in it here. */
function present(letter: DeadLetterView): DeadLetterView {
  if (!letter.closed?.evidence) return letter;
  const evidence: JsonText = redactText(letter.closed.evidence);
  return { ...letter, closed: { ...letter.closed, evidence } };
}

/** The compensations that call a host. Addresses are kept sealed, so no query of the database finds them. */
async function compensationsAt(host: string, { database }: Resources, orgId: string): Promise<[string, string][]> {
  const all = await listCompensations(database, orgId);
  return all.filter(({ spec }) => hostOf(spec) === host).map(({ fnName, version }) => [fnName, version]);
}

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
    const { limit, host } = query;
    const rows = await listDeadLetters(resources.database, caller.orgId, {
      state: query.state,
      sessionIds: query.session_id === undefined ? undefined : [query.session_id],
      agentName: query.agent_name,
      fnName: query.fn_name,
      code: query.code,
      haltedBefore: query.halted_before,
      haltedAfter: query.halted_after,
      compensations: host === undefined ? undefined : await compensationsAt(host, resources, caller.orgId),
      limit: limit + 1,
      after: cursor.values && { haltedAt: cursor.values[0], deadLetterId: cursor.values[1] },
    });
    const shown = rows.map(present);
    return answer(
      200,
      cutPage(shown, limit, (last) => [last.halted_at, last.dead_letter_id]),
    );
  },
});

const read = defineRoute({
  method: 'get',
  path: '/v1/dead-letters/{dead_letter_id}',
  roles: ['operator'],
  summary: 'Read a dead letter',
  answers: { 200: { description: 'The dead letter; its ETag is for `If-Match`.', schema: deadLetterView } },
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const letter = await readDeadLetter(resources.database, caller.orgId, params['dead_letter_id']!);
    if (!letter) return refuse('not_found');
    return { ...answer(200, present(letter)), headers: { etag: `"${letter.version}"` } };
  },
});

export const deadLetterRoutes: readonly Route[] = [list, read];
