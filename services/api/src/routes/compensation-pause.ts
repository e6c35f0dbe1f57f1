import { pauseCompensation } from '@undolog/shared/store/pause-compensation';
import { resumeCompensation } from '@undolog/shared/store/resume-compensation';
import { compensationName, compensationPause, pauseCompensationBody } from '@undolog/shared/wire/compensations';
import { emptyBody } from '@undolog/shared/wire/sessions';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

/** Undefined: no compensation can have this name. */
function fnNameOf(params: Readonly<Record<string, string>>): string | undefined {
  return compensationName.shape.fn_name.safeParse(params['fn_name']).data;
}

const pause = defineRoute({
  method: 'post',
  path: '/v1/compensations/{fn_name}/pause',
  roles: ['operator'],
  summary: 'Park every entry of a compensation, all its versions',
  body: pauseCompensationBody,
  answers: { 200: { description: 'Paused, now or before; the first reason stays.', schema: compensationPause } },
  refusals: ['not_found'],
  async handle({ body, caller, params, perform }) {
    const fnName = fnNameOf(params);
    if (fnName === undefined) return refuse('not_found');
    const result = await perform(pauseCompensation, { fnName, reason: body.reason, actor: caller.keyId });
    switch (result.outcome) {
      case 'paused':
        return answer(200, { fn_name: fnName, paused: true, reason: result.reason });
      case 'not_found':
        return refuse('not_found');
      default:
        return result satisfies never;
    }
  },
});

const resume = defineRoute({
  method: 'post',
  path: '/v1/compensations/{fn_name}/resume',
  roles: ['operator'],
  summary: 'Release the entries of a paused compensation',
  body: emptyBody,
  bodyOptional: true,
  answers: { 200: { description: 'Not paused, now or before.', schema: compensationPause } },
  refusals: ['not_found'],
  async handle({ caller, params, perform }) {
    const fnName = fnNameOf(params);
    if (fnName === undefined) return refuse('not_found');
    const result = await perform(resumeCompensation, { fnName, actor: caller.keyId });
    switch (result.outcome) {
      case 'resumed':
        return answer(200, { fn_name: fnName, paused: false, reason: null }, { wakeUps: result.wakeUps });
      case 'not_found':
        return refuse('not_found');
      default:
        return result satisfies never;
    }
  },
});

export const compensationPauseRoutes: readonly Route[] = [pause, resume];
