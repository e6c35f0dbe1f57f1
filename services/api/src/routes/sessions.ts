import { uuidv7 } from '@undolog/shared/runtime/clock';
import { listSessions } from '@undolog/shared/store/list-sessions';
import { openSession } from '@undolog/shared/store/open-session';
import { readSession } from '@undolog/shared/store/read-session';
import { readStack } from '@undolog/shared/store/read-stack';
import { page, whole } from '@undolog/shared/wire/paging';
import { listSessionsQuery, openSessionBody, sessionView } from '@undolog/shared/wire/sessions';
import { entryView } from '@undolog/shared/wire/undo-entries';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';
import { cutPage, isSessionId, isTimestamp, readCursor } from './cursor.js';
import { presentEntry, presentSession } from './present.js';

export const openSessionRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions',
  roles: ['agent'],
  summary: 'Open a session',
  body: openSessionBody,
  answers: {
    201: { description: 'The session is open.', schema: sessionView },
    200: { description: 'It was opened before, with the same id and body.', schema: sessionView },
  },
  refusals: ['session_exists', 'unknown_parent', 'session_not_active'],
  async handle({ body, perform, bodyHash }) {
    const result = await perform(openSession, {
      sessionId: body.session_id ?? uuidv7(),
      agentName: body.agent_name ?? null,
      externalRunId: body.external_run_id ?? null,
      metadata: body.metadata ?? null,
      onCompensationFailure: body.on_compensation_failure,
      leaseSeconds: body.lease_seconds,
      maxAgeSeconds: body.max_age_seconds,
      bodyHash: bodyHash(),
      parent: body.parent ? { sessionId: body.parent.session_id, position: body.parent.stack_position } : null,
    });
    switch (result.outcome) {
      case 'created':
        return answer(201, result.session);
      case 'same':
        return answer(200, result.session);
      case 'exists':
        return refuse('session_exists');
      case 'unknown_parent':
        return refuse('unknown_parent');
      case 'parent_not_active':
        return refuse('session_not_active', 'the parent has ended, so nothing would undo this session with it');
      default:
        return result satisfies never;
    }
  },
});

const list = defineRoute({
  method: 'get',
  path: '/v1/sessions',
  roles: ['agent', 'operator'],
  summary: 'List sessions, newest first',
  query: listSessionsQuery,
  answers: { 200: { description: 'A page of sessions.', schema: page(sessionView) } },
  refusals: ['invalid_cursor'],
  async handle({ caller, query, resources }) {
    const cursor = readCursor(query.cursor, isTimestamp, isSessionId);
    if ('refused' in cursor) return cursor.refused;
    const after = cursor.values && { createdAt: cursor.values[0], sessionId: cursor.values[1] };
    const { limit } = query;
    const rows = await listSessions(resources.database, caller.orgId, {
      states: query.state,
      sessionIdPrefix: query.session_id,
      externalRunId: query.external_run_id,
      agentName: query.agent_name,
      createdAfter: query.created_after,
      createdBefore: query.created_before,
      limit: limit + 1,
      after,
    });
    const { data, next_cursor } = cutPage(rows, limit, (last) => [last.created_at, last.session_id]);
    return answer(200, { data: data.map((session) => presentSession(session, caller.role)), next_cursor });
  },
});

const read = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session_id}',
  roles: ['agent', 'operator'],
  summary: 'Read a session',
  answers: { 200: { description: 'The session.', schema: sessionView } },
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const session = await readSession(resources.database, caller.orgId, params['session_id']!);
    return session ? answer(200, presentSession(session, caller.role)) : refuse('not_found');
  },
});

const stack = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session_id}/stack',
  roles: ['agent', 'operator'],
  summary: "Read a session's undo entries, the top first",
  answers: { 200: { description: 'Every entry, with its effect and its attempts.', schema: whole(entryView) } },
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const entries = await readStack(resources.database, caller.orgId, params['session_id']!);
    if (!entries) return refuse('not_found');
    return answer(200, { data: entries.map((entry) => presentEntry(entry, caller.role)) });
  },
});

export const sessionRoutes: readonly Route[] = [openSessionRoute, list, read, stack];
