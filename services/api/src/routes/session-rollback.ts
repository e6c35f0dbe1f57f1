import { uuidv7 } from '@undolog/shared/runtime/clock';
import { rollBackSession } from '@undolog/shared/store/roll-back-session';
import { rollBackSessionBody, sessionState } from '@undolog/shared/wire/sessions';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

const rollback = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/rollback',
  roles: ['agent'],
  summary: 'Undo what an active session did above a position; then it is active again',
  body: rollBackSessionBody,
  answers: { 202: { description: '`compensating`; `active` where nothing is above.', schema: sessionState } },
  refusals: ['not_found', 'session_not_active'],
  async handle({ body, caller, params, perform }) {
    const sessionId = params['session_id']!;
    const input = { sessionId, toPosition: body.to_position, actor: caller.keyId, deadLetterId: uuidv7() };
    const result = await perform(rollBackSession, input);
    switch (result.outcome) {
      case 'accepted':
        return answer(202, { session_id: sessionId, state: result.state }, { wake: result.wake });
      case 'session_not_found':
        return refuse('not_found');
      case 'session_not_active':
        return refuse('session_not_active');
      default:
        return result satisfies never;
    }
  },
});

export const sessionRollbackRoutes: readonly Route[] = [rollback];
