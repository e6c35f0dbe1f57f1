import type { z } from 'zod';
import type { ErrorCodeName } from '@undolog/shared/domain/error-codes';
import { monotonicMs, uuidv7 } from '@undolog/shared/runtime/clock';
import { pickDeadLetters } from '@undolog/shared/store/dead-letters';
import { resolveDeadLetter } from '@undolog/shared/store/resolve-dead-letter';
import { retryDeadLetter } from '@undolog/shared/store/retry-dead-letter';
import { skipDeadLetter } from '@undolog/shared/store/skip-dead-letter';
import type { WakeUp } from '@undolog/shared/domain/wake-up';
import { bulkAnswer, bulkBody } from '@undolog/shared/wire/dead-letters';
import { answer } from '../reply.js';
import { defineRoute, type RequestContext, type Route } from '../route.js';

type Body = z.output<typeof bulkBody.schema>;
type Context = RequestContext<Body>;

/** What is left then is for a further request; an answer is due soon after. */
const WORK_FOR_MS = 1000;
/** Letters of one org at a time; each is a transaction of its own. */
const AT_A_TIME = 4;

type Done =
  { readonly applied: true; readonly wake: WakeUp | null } | { readonly applied: false; readonly code: ErrorCodeName };

async function actOn(deadLetterId: string, { body, caller, resources }: Context, delayMs: number): Promise<Done> {
  const { commits } = resources;
  const action = { deadLetterId, ifVersion: null, actor: caller.keyId, nextLetterId: uuidv7() };
  const as = { undoId: null, args: null, version: null, successorId: uuidv7(), delayMs };
  const { reason = null } = body;
  const perform = () => {
    switch (body.action) {
      case 'retry':
        return commits.submit(retryDeadLetter, caller.orgId, { ...action, ...as, reason });
      case 'skip':
        return commits.submit(skipDeadLetter, caller.orgId, { ...action, undoId: null, reason: reason! });
      case 'resolve':
        return commits.submit(resolveDeadLetter, caller.orgId, { ...action, reason: reason!, evidence: null });
      default:
        return body.action satisfies never;
    }
  };
  const result = await perform();
  switch (result.outcome) {
    case 'resumed':
    case 'resolved':
      return { applied: true, wake: result.wake };
    case 'letter_not_found':
      return { applied: false, code: 'not_found' };
    default:
      return { applied: false, code: result.outcome };
  }
}

/** Works on the letters, the longest waiting first, until all are done or the time is over. */
async function actOnAll(ids: readonly string[], context: Context): Promise<Map<string, Done>> {
  const startedMs = monotonicMs();
  const { per_second: perSecond } = context.body;
  const done = new Map<string, Done>();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < ids.length && monotonicMs() - startedMs < WORK_FOR_MS) {
      const nth = next++;
      const delayMs = perSecond === undefined ? 0 : Math.round((nth * 1000) / perSecond);
      done.set(ids[nth]!, await actOn(ids[nth]!, context, delayMs));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return done;
}

const bulk = defineRoute({
  method: 'post',
  path: '/v1/dead-letters/bulk',
  roles: ['operator'],
  summary: 'Act on many dead letters, or count them first',
  span: 'undolog.bulk',
  body: bulkBody,
  settlesApart: true,
  answers: {
    200: { description: 'A dry run: nothing was changed.', schema: bulkAnswer },
    202: { description: 'What was done; with some remaining, repeat it.', schema: bulkAnswer },
  },
  refusals: [],
  async handle(context) {
    const { body, caller, resources } = context;
    const { session_ids: sessionIds, agent_name: agentName, fn_name: fnName, code } = body.filter;
    const filter = { sessionIds, agentName, fnName, code, haltedBefore: body.halted_before };
    const picked = await pickDeadLetters(resources.database, caller.orgId, filter, body.limit);
    if (body.dry_run) return answer(200, { matched: picked.matched, as_of: picked.asOf });
    const done = await actOnAll(picked.ids, context);
    const outcomes = [...done.values()];
    const refused = [...done].flatMap(([id, one]) => (one.applied ? [] : [{ dead_letter_id: id, code: one.code }]));
    const wakeUps = outcomes.flatMap((one) => (one.applied && one.wake ? [one.wake] : []));
    const remaining = picked.matched - done.size;
    const applied = done.size - refused.length;
    const reply = answer(
      202,
      { matched: picked.matched, applied, refused, remaining, as_of: picked.asOf },
      { wakeUps },
    );
    // By then the last of these has been called, so that the next request keeps to the same rate.
    const seconds = remaining > 0 && body.per_second !== undefined ? Math.ceil(done.size / body.per_second) : undefined;
    return seconds === undefined ? reply : { ...reply, headers: { 'retry-after': String(seconds) } };
  },
});

export const deadLetterBulkRoutes: readonly Route[] = [bulk];
