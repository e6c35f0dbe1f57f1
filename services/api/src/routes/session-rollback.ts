import { uuidv7 } from '@undolog/shared/runtime/clock';
import { asPlanned } from '@undolog/shared/store/as-planned';
import { planSession } from '@undolog/shared/store/plan-unwind';
import { rollBackSession } from '@undolog/shared/store/roll-back-session';
import { planSessionBody, rollBackSessionBody, sessionPlan, sessionState } from '@undolog/shared/wire/sessions';
import { digestOf } from '../plan-digest.js';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

const rollBackAsPlanned = asPlanned(rollBackSession);

const plan = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/plan',
  roles: ['agent', 'operator'],
  summary: 'Tell what an unwind, or a rollback, would do now; changes nothing',
  body: planSessionBody,
  bodyOptional: true,
  answers: { 200: { description: 'The steps, in the order in which they would run.', schema: sessionPlan } },
  refusals: ['not_found'],
  async handle({ body, caller, params, resources }) {
    const planned = await planSession(resources.database, caller.orgId, params['session_id']!, body.to_position);
    if (!planned) return refuse('not_found');
    return answer(200, { ...planned.plan, digest: digestOf(planned.plan) });
  },
});

const rollback = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/rollback',
  roles: ['agent'],
  summary: 'Undo what an active session did above a position; then it is active again',
  span: 'undolog.rollback',
  body: rollBackSessionBody,
  answers: { 202: { description: '`compensating`; `active` where nothing is above.', schema: sessionState } },
  refusals: ['not_found', 'session_not_active', 'plan_changed'],
  async handle({ body, caller, params, perform }) {
    const sessionId = params['session_id']!;
    const { plan_digest: planDigest, to_position: toPosition } = body;
    const input = { sessionId, toPosition, actor: caller.keyId, deadLetterId: uuidv7() };
    const result = await (planDigest === undefined
      ? perform(rollBackSession, input)
      : perform(rollBackAsPlanned, { input, planDigest, toPosition, digestOf }));
    switch (result.outcome) {
      case 'accepted':
        return answer(202, { session_id: sessionId, state: result.state }, { wake: result.wake });
      case 'session_not_found':
        return refuse('not_found');
      case 'session_not_active':
      case 'plan_changed':
        return refuse(result.outcome);
      default:
        return result satisfies never;
    }
  },
});

export const sessionRollbackRoutes: readonly Route[] = [plan, rollback];
