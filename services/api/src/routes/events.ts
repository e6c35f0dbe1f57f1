import { JsonText, type JsonNode } from '@undolog/shared/domain/json-text';
import { MAX_EVENTS } from '@undolog/shared/domain/limits';
import { findEffectSessions } from '@undolog/shared/store/effect-sessions';
import { eventBatch, eventResults } from '@undolog/shared/wire/events';
import { applyRun, type SettledEvent } from '../events/apply-run.js';
import { readEvent, type ReadEvent, type RefusedEvent } from '../events/read-event.js';
import { answer, badRequest } from '../reply.js';
import type { Resources } from '../resources.js';
import { defineRoute, type Caller, type Route } from '../route.js';

/** Effects whose reports do not say which session they belong to: their sessions, where there is a choice. */
async function sessionsOf(
  resources: Resources,
  caller: Caller,
  events: readonly ReadEvent[],
): Promise<Map<string, string>> {
  const unnamed = events.filter(({ sessionId }) => sessionId === undefined);
  const named = new Set(events.map(({ sessionId }) => sessionId).filter((id) => id !== undefined));
  if (unnamed.length === 0 || events.length === 1) return new Map();
  const effectIds = unnamed.flatMap(({ context }) => context.params['effect_id'] ?? []);
  // With one session in the batch, whatever else is in it may go with it.
  const [only] = named;
  if (named.size === 1) return new Map(effectIds.map((effectId) => [effectId, only!]));
  return findEffectSessions(resources.database, caller.orgId, effectIds);
}

/** The events of each session, in their order. One that names a session that was opened without an id stands alone. */
function runsOf(events: readonly ReadEvent[], sessions: ReadonlyMap<string, string>): ReadEvent[][] {
  const runs = new Map<unknown, ReadEvent[]>();
  for (const event of events) {
    const session = event.sessionId ?? sessions.get(event.context.params['effect_id'] ?? '') ?? event;
    runs.set(session, [...(runs.get(session) ?? []), event]);
  }
  return [...runs.values()];
}

/** Splits off what repeats an earlier event of the same batch: it is settled after that one, as any repeat is. */
function roundsOf(events: readonly ReadEvent[]): ReadEvent[][] {
  const rounds: ReadEvent[][] = [];
  const seen = new Map<string, number>();
  for (const event of events) {
    const name = `${event.scope.path} ${event.id}`;
    const round = seen.get(name) ?? 0;
    seen.set(name, round + 1);
    (rounds[round] ??= []).push(event);
  }
  return rounds;
}

async function settleAll(
  resources: Resources,
  caller: Caller,
  events: readonly ReadEvent[],
): Promise<Map<ReadEvent, SettledEvent>> {
  const settled = new Map<ReadEvent, SettledEvent>();
  const sessions = await sessionsOf(resources, caller, events);
  for (const round of roundsOf(events)) {
    await Promise.all(
      runsOf(round, sessions).map(async (run) => {
        const results = await applyRun(resources, caller.orgId, run);
        for (const [index, event] of run.entries()) settled.set(event, results[index]!);
      }),
    );
  }
  return settled;
}

const post = defineRoute({
  method: 'post',
  path: '/v1/events',
  roles: ['agent'],
  summary: 'Report a batch of CloudEvents, each settled on its own',
  body: { schema: eventBatch, raw: 'whole' },
  mediaType: 'application/cloudevents-batch+json',
  settlesApart: true,
  answers: { 200: { description: 'The outcome of each event, in the order of the batch.', schema: eventResults } },
  refusals: [],
  async handle({ caller, node, resources }) {
    const items: readonly JsonNode[] = node.kind === 'array' ? node.items : [];
    if (items.length === 0 || items.length > MAX_EVENTS) {
      return badRequest('', `the body must be an array of 1 to ${MAX_EVENTS} events`);
    }
    const read: (ReadEvent | RefusedEvent)[] = items.map((item) => readEvent(item, caller, resources));
    const settled = await settleAll(
      resources,
      caller,
      read.filter((event): event is ReadEvent => !('refused' in event)),
    );
    const results = read.map((event) => {
      const outcome = 'refused' in event ? { reply: event.refused, replayed: false } : settled.get(event)!;
      const { status, text } = outcome.reply;
      return { id: event.id, status, body: new JsonText(text), ...(outcome.replayed && { replayed: true }) };
    });
    const replies = [...settled.values()].map(({ reply }) => reply);
    const wakeUps = replies.flatMap(({ wake, wakeUps: more = [] }) => (wake ? [wake, ...more] : more));
    return answer(200, { results }, { wakeUps });
  },
});

export const eventRoutes: readonly Route[] = [post];
