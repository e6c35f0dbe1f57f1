import { eraseSessionData } from '@undolog/shared/store/erase-session-data';
import { erasedData } from '@undolog/shared/wire/sessions';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

/** Such a transaction stays well within the time in which a request is answered. */
const EFFECTS_AT_A_TIME = 2000;

const erase = defineRoute({
  method: 'delete',
  path: '/v1/sessions/{session_id}/data',
  roles: [],
  summary: 'Erase what was said in a session that has ended; what happened stays',
  answers: { 200: { description: 'Erased. Where it is not `complete`, repeat the request.', schema: erasedData } },
  refusals: ['not_found', 'session_not_ended'],
  async handle({ caller, params, perform }) {
    const sessionId = params['session_id']!;
    const result = await perform(eraseSessionData, { sessionId, actor: caller.keyId, maxEffects: EFFECTS_AT_A_TIME });
    switch (result.outcome) {
      case 'erased':
        return answer(200, { session_id: sessionId, data_erased_at: result.erasedAt, complete: result.complete });
      case 'session_not_found':
        return refuse('not_found');
      case 'session_not_ended':
        return refuse('session_not_ended');
      default:
        return result satisfies never;
    }
  },
});

export const sessionDataRoutes: readonly Route[] = [erase];
