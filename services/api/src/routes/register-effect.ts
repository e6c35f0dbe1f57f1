import type { z } from 'zod';
import { JsonText, memberOf, type JsonNode } from '@undolog/shared/domain/json-text';
import { bindArgs } from '@undolog/shared/domain/references';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { registerEffect, type RegisterEffect, type RegisterResult } from '@undolog/shared/store/register-effect';
import { registeredEffect as findRegistered } from '@undolog/shared/store/registered-effect';
import { registeredEffect, registerEffectBody } from '@undolog/shared/wire/effects';
import { answer, refuse, type Reply } from '../reply.js';
import { defineRoute } from '../route.js';

type Body = z.output<typeof registerEffectBody.schema>;

const REFUSE = { decision: 'refuse' } as const;

/** Turns the outcome of a registration into what the agent is told. Only `execute` lets it run the tool. */
function replyOf(result: RegisterResult): Reply {
  if (!('effectId' in result)) {
    if (result.outcome === 'session_not_found') return refuse('not_found', undefined, REFUSE);
    return refuse(result.outcome, undefined, REFUSE);
  }
  const ids = {
    effect_id: result.effectId,
    undo_id: result.undoId,
    stack_position: result.stackPosition,
    idempotency_key: result.idempotencyKey,
  };
  switch (result.outcome) {
    case 'execute':
      return answer(201, { decision: 'execute', ...ids });
    case 'in_flight':
      return answer(200, { decision: 'in_flight', ...ids });
    case 'replay':
      return answer(200, { decision: 'replay', ...ids, result: result.result });
    case 'effect_failed':
      return answer(200, { decision: 'refuse', code: 'effect_failed', ...ids });
    default:
      return result satisfies never;
  }
}

function bindCompensation(
  body: Body,
  node: JsonNode,
): { readonly bound: RegisterEffect['compensation'] } | { readonly refused: Reply } {
  if (!body.compensation) {
    return body.effect_class === 'compensable'
      ? { refused: refuse('compensation_required', undefined, REFUSE) }
      : { bound: null };
  }
  const { fn_name: fnName, version, max_retries: maxRetries } = body.compensation;
  const template = memberOf(memberOf(node, 'compensation')!, 'args')!;
  const filled = bindArgs(template, memberOf(node, 'args')!);
  if (!filled.ok) {
    const message = `the pointer ${JSON.stringify(filled.pointer)} finds nothing`;
    const errors = [{ path: '/compensation/args', message }];
    return { refused: refuse('unresolved_reference', message, { errors, ...REFUSE }) };
  }
  const args = new JsonText(filled.text);
  return { bound: { fnName, version, maxRetries: maxRetries ?? null, args, needsResult: filled.needsResult } };
}

export const registerEffectRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session_id}/effects',
  roles: ['agent'],
  summary: 'Register a tool call with its undo, before it runs',
  span: 'undolog.register',
  body: registerEffectBody,
  answers: {
    201: { description: 'Registered: run the tool.', schema: registeredEffect },
    200: { description: 'The same call_id was registered before.', schema: registeredEffect },
  },
  refusals: [
    'not_found',
    'session_not_active',
    'compensation_required',
    'unknown_compensation',
    'unresolved_reference',
    'call_id_reused',
    'step_index_taken',
    'stack_full',
  ],
  async handle({ body, node, params, perform, fingerprint, traceparent, note, resources }) {
    const compensation = bindCompensation(body, node);
    if ('refused' in compensation) return compensation.refused;
    const result = await perform(registerEffect, {
      sessionId: params['session_id']!,
      effectId: uuidv7(),
      undoId: uuidv7(),
      toolName: body.tool_name,
      effectClass: body.effect_class,
      args: body.args,
      stepIndex: body.step_index ?? null,
      callId: body.call_id ?? null,
      callTimeoutMs: body.call_timeout_ms,
      fingerprint: body.call_id === undefined ? null : fingerprint(),
      traceparent,
      compensation: compensation.bound,
    });
    const decision = decisionOf(result);
    resources.metrics.registrations.inc({ decision });
    note({ 'undolog.decision': decision });
    if ('effectId' in result) note({ 'undolog.effect_id': result.effectId, 'undolog.undo_id': result.undoId });
    return replyOf(result);
  },
  // The agent may be told `execute` again only while it can still be true.
  async replay(kept, tx, { caller }) {
    if (kept.status !== 201) return undefined;
    const { effect_id: effectId } = JSON.parse(kept.text) as { effect_id: string };
    const now = await findRegistered(tx, caller.orgId, effectId);
    return now.outcome === 'execute' ? undefined : replyOf(now);
  },
});

function decisionOf({ outcome }: RegisterResult): string {
  return outcome === 'execute' || outcome === 'in_flight' || outcome === 'replay' ? outcome : 'refuse';
}
