import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { failEffect } from '@undolog/shared/store/fail-effect';
import type { LateCommit } from '@undolog/shared/store/late-commit';
import { commitEffectBody, failEffectBody, reportedEffect } from '@undolog/shared/wire/effects';
import { answer, refuse, type Reply } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

function lateReply({ effectId, undoId }: LateCommit): Reply {
  return refuse(
    'session_not_active',
    'the report is kept; its effect is undone, as its session has ended or was rolled back',
    {
      decision: 'undo',
      effect_id: effectId,
      undo_id: undoId,
    },
  );
}

export const commitEffectRoute = defineRoute({
  method: 'post',
  path: '/v1/effects/{effect_id}/commit',
  roles: ['agent'],
  summary: 'Report that a tool call took effect',
  body: commitEffectBody,
  answers: { 200: { description: 'Committed, now or before with the same result.', schema: reportedEffect } },
  refusals: ['not_found', 'result_conflict', 'session_not_active'],
  async handle({ body, caller, params, perform, resources }) {
    const result = await perform(commitEffect, {
      effectId: params['effect_id']!,
      result: body.result ?? null,
      successorId: uuidv7(),
      deadLetterId: uuidv7(),
      actor: caller.keyId,
    });
    switch (result.outcome) {
      case 'committed':
        return answer(200, { effect_id: result.effectId, undo_id: result.undoId, state: 'committed' });
      case 'late':
        resources.metrics.lateReports.inc();
        return { ...lateReply(result), wake: result.wake };
      case 'effect_not_found':
        return refuse('not_found');
      case 'result_conflict':
        return refuse('result_conflict');
      default:
        return result satisfies never;
    }
  },
});

export const failEffectRoute = defineRoute({
  method: 'post',
  path: '/v1/effects/{effect_id}/fail',
  roles: ['agent'],
  summary: 'Report that a tool call failed, or that its outcome is unknown',
  body: failEffectBody,
  answers: { 200: { description: 'Recorded; the session goes on.', schema: reportedEffect } },
  refusals: ['not_found', 'effect_committed'],
  async handle({ body, params, perform }) {
    const result = await perform(failEffect, {
      effectId: params['effect_id']!,
      error: body.error,
      applied: body.outcome,
      deadLetterId: uuidv7(),
    });
    switch (result.outcome) {
      case 'recorded': {
        const { effectId, undoId, state, wake } = result;
        return answer(200, { effect_id: effectId, undo_id: undoId, state }, { wake });
      }
      case 'effect_not_found':
        return refuse('not_found');
      case 'effect_committed':
        return refuse('effect_committed');
      default:
        return result satisfies never;
    }
  },
});

export const effectReportRoutes: readonly Route[] = [commitEffectRoute, failEffectRoute];
