import { listAudit } from '@undolog/shared/store/audit-log';
import { auditView, listAuditQuery } from '@undolog/shared/wire/audit';
import { page } from '@undolog/shared/wire/paging';
import { answer } from '../reply.js';
import { defineRoute, type Route } from '../route.js';
import { cutPage, isCount, readCursor } from './cursor.js';

const list = defineRoute({
  method: 'get',
  path: '/v1/audit',
  roles: ['operator'],
  summary: 'List who did what, newest first',
  query: listAuditQuery,
  answers: { 200: { description: 'A page of the audit log.', schema: page(auditView) } },
  refusals: ['invalid_cursor'],
  async handle({ caller, query, resources }) {
    const cursor = readCursor(query.cursor, isCount);
    if ('refused' in cursor) return cursor.refused;
    const before = cursor.values && Number(cursor.values[0]);
    const filter = { sessionId: query.session_id, limit: query.limit + 1, before };
    const rows = await listAudit(resources.database, caller.orgId, filter);
    return answer(
      200,
      cutPage(rows, query.limit, (last) => [last.seq]),
    );
  },
});

export const auditRoutes: readonly Route[] = [list];
