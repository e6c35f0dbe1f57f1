import { claimKey, keepAnswer, keepNewAnswers, type NewAnswer } from '@undolog/shared/store/idempotency';
import type { Operation, PendingWrite, Step } from '@undolog/shared/store/operation';
import { DatabaseUnavailable, type Tx } from '@undolog/shared/store/database';
import { refuse, type Reply } from '../reply.js';
import type { Resources } from '../resources.js';
import type { ReadEvent } from './read-event.js';

export interface SettledEvent {
  readonly reply: Reply;
  /** Its answer was kept before; it was not settled anew. */
  readonly replayed: boolean;
}

type Engines = Pick<Resources, 'database' | 'commits' | 'logger'>;

/** What may be different the next time is not kept under the event's name. */
function isKept({ status }: Reply): boolean {
  return status < 300 || status === 409 || status === 422;
}

/** An event whose route has said what it would write, and waits for the outcome. */
interface Started {
  readonly step: Step | undefined;
  readonly tell: (result: unknown) => void;
  readonly reply: Promise<Reply>;
}

const NOBODY_WAITS = (): void => undefined;

/** Runs the route up to its one write. */
function start({ route, context }: ReadEvent): Started {
  let step: Step | undefined;
  let tell: (result: never) => void = NOBODY_WAITS;
  const perform = <I, R>(operation: Operation<I, R>, input: I): Promise<R> => {
    step = { operation, input } as Step;
    return new Promise<R>((resolve) => (tell = resolve));
  };
  const reply = route.handle({ ...context, perform });
  // It is awaited where it is asked for; what is given up is not.
  reply.catch(NOBODY_WAITS);
  return { step, tell: tell as Started['tell'], reply };
}

function answersOf(events: readonly ReadEvent[], replies: readonly Reply[]): NewAnswer[] {
  return events.flatMap(({ scope }, index) => {
    const reply = replies[index]!;
    return isKept(reply) ? [{ scope, answer: reply }] : [];
  });
}

/**
 * Events of one session in a transaction that others share: none was settled before, and none needs more than the
 * shared statements. Should that prove wrong, nothing is written.
 *
 * @returns undefined: nothing was written.
 */
async function applyShared(
  engines: Engines,
  orgId: string,
  events: readonly ReadEvent[],
): Promise<Reply[] | undefined> {
  const started = events.map(start);
  const performing = started.filter(({ step }) => step !== undefined);
  const steps = performing.map(({ step }) => step!);
  if (steps.length === 0 || !steps.every(({ operation }) => operation.batch)) return undefined;
  let replies: Reply[] = [];
  const committed = await engines.commits.submitRun(orgId, steps, async (results): Promise<PendingWrite[]> => {
    for (const [index, { tell }] of performing.entries()) tell(results[index]);
    replies = await Promise.all(started.map(({ reply }) => reply));
    return answersOf(events, replies).map((input) => ({ write: keepNewAnswers, input }) as PendingWrite);
  });
  return committed ? replies : undefined;
}

async function settleInOrder(tx: Tx, orgId: string, events: readonly ReadEvent[]): Promise<SettledEvent[]> {
  const settled: SettledEvent[] = [];
  for (const event of events) settled.push(await settleOne(tx, orgId, event));
  return settled;
}

async function settleOne(tx: Tx, orgId: string, { route, scope, context }: ReadEvent): Promise<SettledEvent> {
  const claim = await claimKey(tx, scope);
  switch (claim.kind) {
    case 'new': {
      const reply = await route.handle({ ...context, perform: (operation, input) => operation.run(tx, orgId, input) });
      if (isKept(reply)) await keepAnswer(tx, scope, reply);
      return { reply, replayed: false };
    }
    case 'replay': {
      const kept: Reply = { status: claim.status, contentType: claim.contentType, text: claim.text };
      return { reply: (await route.replay?.(kept, tx, context)) ?? kept, replayed: true };
    }
    case 'mismatch':
      return { reply: refuse('event_reused'), replayed: false };
    case 'in_progress':
      return {
        reply: refuse('idempotency_key_in_progress', 'this event is being settled; send it again later'),
        replayed: false,
      };
    case 'secret_already_shown':
      throw new Error('no event is answered with a secret');
    default:
      return claim satisfies never;
  }
}

/** Each in a transaction of its own: one of them breaks what the others share. */
async function applyApart(
  { database, logger }: Engines,
  orgId: string,
  events: readonly ReadEvent[],
): Promise<SettledEvent[]> {
  const settled: SettledEvent[] = [];
  for (const event of events) {
    try {
      settled.push(await database.transaction((tx) => settleOne(tx, orgId, event)));
    } catch (err) {
      if (err instanceof DatabaseUnavailable) throw err;
      logger.error({ err }, 'an event could not be settled');
      settled.push({ reply: refuse('internal'), replayed: false });
    }
  }
  return settled;
}

/**
 * Settles the events of one session in their order: together with others where that is enough, else in a transaction of
 * their own, and apart only if one of them breaks it. Each has its own outcome; a refused one stops none after it.
 *
 * @throws {DatabaseUnavailable} when Postgres did not answer: the same events may be sent again.
 */
export async function applyRun(engines: Engines, orgId: string, events: readonly ReadEvent[]): Promise<SettledEvent[]> {
  const shared = await applyShared(engines, orgId, events);
  if (shared) return shared.map((reply) => ({ reply, replayed: false }));
  try {
    return await engines.database.transaction((tx) => settleInOrder(tx, orgId, events));
  } catch (error) {
    if (error instanceof DatabaseUnavailable || events.length === 1) throw error;
    return applyApart(engines, orgId, events);
  }
}
