import type { IncomingHttpHeaders } from 'node:http';
import { memberOf } from '@undolog/shared/domain/json-text';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { resolveDeadLetter } from '@undolog/shared/store/resolve-dead-letter';
import { retryDeadLetter } from '@undolog/shared/store/retry-dead-letter';
import { skipDeadLetter } from '@undolog/shared/store/skip-dead-letter';
import type { LetterAction, LetterRefusal, ResumeResult } from '@undolog/shared/store/take-dead-letter';
import { resolveBody, resumedSession, retryBody, skipBody } from '@undolog/shared/wire/dead-letters';
import { answer, refuse, type Reply } from '../reply.js';
import { defineRoute, type RequestContext, type Route } from '../route.js';

const PATH = '/v1/dead-letters/{dead_letter_id}';

const resumed = { 202: { description: 'The letter is closed, and the unwind goes on.', schema: resumedSession } };
const refusals = ['not_found', 'dead_letter_closed', 'dead_letter_changed'] as const;

/** No letter has this version. */
const NO_VERSION = 0;

/** What `If-Match` names; anything that is no version of ours matches nothing. */
function versionOf({ 'if-match': ifMatch }: IncomingHttpHeaders): number | null {
  if (ifMatch === undefined || ifMatch === '*') return null;
  const [, version] = /^"(\d{1,9})"$/.exec(ifMatch) ?? [];
  return version === undefined ? NO_VERSION : Number(version);
}

/** What every action on a letter holds, whatever it does. */
export function actionOf({ caller, headers, params }: RequestContext): Omit<LetterAction, 'reason'> {
  return {
    deadLetterId: params['dead_letter_id']!,
    ifVersion: versionOf(headers),
    actor: caller.keyId,
    nextLetterId: uuidv7(),
  };
}

/** How an action went that lets the unwind go on. */
export function replyOf(result: ResumeResult | LetterRefusal): Reply {
  switch (result.outcome) {
    case 'resumed':
      return answer(202, { session_id: result.sessionId, state: result.state }, { wake: result.wake });
    case 'letter_not_found':
      return refuse('not_found');
    case 'dead_letter_closed':
    case 'dead_letter_changed':
      return refuse(result.outcome);
    default:
      return result satisfies never;
  }
}

const retry = defineRoute({
  method: 'post',
  path: `${PATH}/retry`,
  roles: ['operator'],
  summary: 'Try a broken undo again, as it was or corrected',
  span: 'undolog.retry',
  body: retryBody,
  bodyOptional: true,
  answers: resumed,
  refusals: [...refusals, 'outcome_unknown', 'unknown_undo', 'unknown_compensation', 'unresolved_reference'],
  async handle(context) {
    const { body, node, perform } = context;
    const result = await perform(retryDeadLetter, {
      ...actionOf(context),
      reason: body.reason ?? null,
      undoId: body.undo_id ?? null,
      args: memberOf(node, 'args') ?? null,
      version: body.version ?? null,
      successorId: uuidv7(),
      delayMs: 0,
    });
    switch (result.outcome) {
      case 'outcome_unknown':
      case 'unknown_undo':
      case 'unknown_compensation':
        return refuse(result.outcome);
      case 'unresolved_reference': {
        const message = `the pointer ${JSON.stringify(result.pointer)} finds nothing`;
        return refuse('unresolved_reference', message, { errors: [{ path: '/args', message }] });
      }
      default:
        return replyOf(result);
    }
  },
});

const skip = defineRoute({
  method: 'post',
  path: `${PATH}/skip`,
  roles: ['operator'],
  summary: 'Leave an effect as it stands, and go on with the rest',
  span: 'undolog.skip',
  body: skipBody,
  answers: resumed,
  refusals: [...refusals, 'unknown_undo'],
  async handle(context) {
    const { reason, undo_id: undoId = null } = context.body;
    const result = await context.perform(skipDeadLetter, { ...actionOf(context), reason, undoId });
    return result.outcome === 'unknown_undo' ? refuse('unknown_undo') : replyOf(result);
  },
});

const resolve = defineRoute({
  method: 'post',
  path: `${PATH}/resolve`,
  roles: ['operator'],
  summary: 'End a halted session by hand; nothing more is called',
  span: 'undolog.resolve',
  body: resolveBody,
  answers: { 200: { description: 'The session is resolved.', schema: resumedSession } },
  refusals,
  async handle(context) {
    const { reason, evidence = null } = context.body;
    const result = await context.perform(resolveDeadLetter, { ...actionOf(context), reason, evidence });
    if (result.outcome !== 'resolved') return replyOf(result);
    return answer(200, { session_id: result.sessionId, state: 'resolved' }, { wake: result.wake });
  },
});

export const deadLetterActionRoutes: readonly Route[] = [retry, skip, resolve];
