import { uuidv7 } from '@undolog/shared/runtime/clock';
import { ALL_POSITIONS } from '@undolog/shared/domain/limits';
import { asPlanned } from '@undolog/shared/store/as-planned';
import { completeSession } from '@undolog/shared/store/complete-session';
import { failSession, type FailSession } from '@undolog/shared/store/fail-session';
import { heartbeat } from '@undolog/shared/store/heartbeat';
import {
  cancelSessionBody,
  completeSessionBody,
  emptyBody,
  failSessionBody,
  renewedLease,
  sessionState,
} from '@undolog/shared/wire/sessions';
import { UUID_PATTERN } from '@undolog/shared/wire/text';
import { digestOf } from '../plan-digest.js';
import { answer, refuse, type Reply } from '../reply.js';
import { defineRoute, type RequestContext, type Route } from '../route.js';

export const completeSessionRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/complete',
  roles: ['agent'],
  summary: 'End a session with success',
  body: completeSessionBody,
  bodyOptional: true,
  answers: { 200: { description: 'Completed, now or before.', schema: sessionState } },
  refusals: ['not_found', 'effects_in_flight', 'session_not_active'],
  async handle({ body, caller, params, perform }) {
    const sessionId = params['session_id']!;
    const input = { sessionId, leaveUnknown: body.leave_unknown, actor: caller.keyId };
    const { outcome } = await perform(completeSession, input);
    switch (outcome) {
      case 'completed':
        return answer(200, { session_id: sessionId, state: 'completed' });
      case 'session_not_found':
        return refuse('not_found');
      case 'effects_in_flight':
      case 'session_not_active':
        return refuse(outcome);
      default:
        return outcome satisfies never;
    }
  },
});

/** Names no effect: an id that is no UUID can't belong to the session either. */
const NO_EFFECT = '00000000-0000-0000-0000-000000000000';

const failSessionAsPlanned = asPlanned(failSession);

async function endWithoutSuccess(
  { caller, params, perform }: RequestContext,
  how: Pick<FailSession, 'reason' | 'kind' | 'effectId'>,
  planDigest: string | undefined,
): Promise<Reply> {
  const sessionId = params['session_id']!;
  const input = { ...how, sessionId, actor: caller.keyId, deadLetterId: uuidv7() };
  const result = await (planDigest === undefined
    ? perform(failSession, input)
    : perform(failSessionAsPlanned, { input, planDigest, toPosition: ALL_POSITIONS, digestOf }));
  switch (result.outcome) {
    case 'accepted':
      return answer(202, { session_id: sessionId, state: result.state }, { wake: result.wake });
    case 'session_not_found':
      return refuse('not_found');
    case 'session_completed':
    case 'unknown_effect':
    case 'plan_changed':
      return refuse(result.outcome);
    case 'not_expired':
      throw new Error('only an expiry can be told that it came too early');
    default:
      return result satisfies never;
  }
}

const ended = { 202: { description: 'The session has failed and is being undone.', schema: sessionState } };

export const failSessionRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/fail',
  roles: ['agent', 'operator'],
  summary: 'End a session without success and undo its effects',
  span: 'undolog.fail',
  body: failSessionBody,
  answers: ended,
  refusals: ['not_found', 'session_completed', 'unknown_effect', 'plan_changed'],
  handle(context) {
    const { reason, effect_id: effectId, plan_digest: planDigest } = context.body;
    const effect = effectId === undefined || UUID_PATTERN.test(effectId) ? effectId : NO_EFFECT;
    return endWithoutSuccess(
      context,
      { reason, kind: 'reported', effectId: effect?.toLowerCase() ?? null },
      planDigest,
    );
  },
});

const cancel = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/cancel',
  roles: ['agent', 'operator'],
  summary: 'Cancel a session and undo its effects',
  span: 'undolog.cancel',
  body: cancelSessionBody,
  answers: ended,
  refusals: ['not_found', 'session_completed', 'plan_changed'],
  handle(context) {
    const { reason, plan_digest: planDigest } = context.body;
    return endWithoutSuccess(context, { reason, kind: 'cancelled', effectId: null }, planDigest);
  },
});

const beat = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/heartbeat',
  roles: ['agent'],
  summary: "Renew a session's lease",
  body: emptyBody,
  bodyOptional: true,
  answers: { 200: { description: 'The lease is renewed; null: it has none.', schema: renewedLease } },
  refusals: ['not_found', 'session_not_active'],
  async handle({ params, perform }) {
    const result = await perform(heartbeat, { sessionId: params['session_id']! });
    switch (result.outcome) {
      case 'renewed':
        return answer(200, { lease_expires_at: result.leaseExpiresAt });
      case 'session_not_found':
        return refuse('not_found');
      case 'session_not_active':
        return refuse('session_not_active');
      default:
        return result satisfies never;
    }
  },
});

export const sessionEndRoutes: readonly Route[] = [completeSessionRoute, failSessionRoute, cancel, beat];
