import { listAudit } from '@undolog/shared/store/audit-log';
import { countUnsealed, listSeals, verifyAudit } from '@undolog/shared/store/verify-audit';
import {
  auditView,
  listAuditQuery,
  listSealsQuery,
  sealView,
  verifiedAudit,
  verifyAuditQuery,
} from '@undolog/shared/wire/audit';
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
    const { session_id: sessionId, undo_id: undoId, actor, action, since, until, limit } = query;
    const before = cursor.values && Number(cursor.values[0]);
    const filter = { sessionId, undoId, actor, action, since, until, limit: limit + 1, before };
    const rows = await listAudit(resources.database, caller.orgId, filter);
    return answer(
      200,
      cutPage(rows, limit, (last) => [last.seq]),
    );
  },
});

const seals = defineRoute({
  method: 'get',
  path: '/v1/audit/seals',
  roles: ['operator'],
  summary: 'List the seals of the audit log, newest first',
  query: listSealsQuery,
  answers: {
    200: {
      description: 'A page of seals. Whoever keeps one elsewhere can prove what it held.',
      schema: page(sealView),
    },
  },
  refusals: ['invalid_cursor'],
  async handle({ caller, query, resources }) {
    const cursor = readCursor(query.cursor, isCount);
    if ('refused' in cursor) return cursor.refused;
    const before = cursor.values && Number(cursor.values[0]);
    const rows = await listSeals(resources.database, caller.orgId, {
      number: query.number,
      before,
      limit: query.limit + 1,
    });
    return answer(
      200,
      cutPage(rows, query.limit, (last) => [last.number]),
    );
  },
});

/** A seal holds some thousands of entries at most, so that one request stays within its time. */
const SEALS_AT_A_TIME = 20;
const MOST_UNSEALED = 10_000;

const verify = defineRoute({
  method: 'get',
  path: '/v1/audit/verify',
  roles: ['operator'],
  summary: 'Prove the seals of the audit log against its entries',
  query: verifyAuditQuery,
  answers: { 200: { description: 'What held, and the first that did not; go on with `next`.', schema: verifiedAudit } },
  refusals: [],
  async handle({ caller, query: { after }, resources: { database } }) {
    const { checked, entries, fault, through } = await verifyAudit(database, caller.orgId, after, SEALS_AT_A_TIME);
    return answer(200, {
      ok: fault === null,
      seals: checked,
      entries,
      sealed_through: through,
      first_fault: fault && { seal: fault.number, kind: fault.kind },
      unsealed: await countUnsealed(database, caller.orgId, MOST_UNSEALED),
      next: fault === null && checked === SEALS_AT_A_TIME ? after + checked : null,
    });
  },
});

export const auditRoutes: readonly Route[] = [list, seals, verify];
