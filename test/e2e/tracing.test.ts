import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AgentSession, Org } from '../support/api-client.js';
import { TraceCollector, type CollectedSpan } from '../support/trace-collector.js';
import { openWorld, type World } from '../support/world.js';

/** Has a process say, as it ends, how many modules of OpenTelemetry it has loaded, but for its API, which the metrics need. */
const TELLS_WHAT_IT_LOADED = `--import=data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire('/');
  process.on('exit', () => {
    const loaded = Object.keys(cache).filter((path) => /@opentelemetry.(?!api\\b(?!-))/.test(path)).length;
    console.log('opentelemetry: ' + loaded);
  });
`)}`;

/** A busy machine may take its time. */
const LATER = { timeout: 10_000 };

/** The last line of a process may be read a moment after its end. */
const modulesLoaded = (log: readonly string[]): Promise<number> =>
  vi.waitFor(() => {
    const [, loaded] = /^opentelemetry: (\d+)$/m.exec(log.join('\n')) ?? [];
    expect(loaded).toBeDefined();
    return Number(loaded);
  }, LATER);

/** An agent's own trace: it sends the same `traceparent` with each of its requests. */
function newTrace() {
  const [traceId, agentSpanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, agentSpanId, headers: { traceparent: `00-${traceId}-${agentSpanId}-01` } };
}

type AgentTrace = ReturnType<typeof newTrace>;

const RETRIED_SOON = { retry: { initial_ms: 20, jitter: 'none' } };

describe('a trace', () => {
  let collector: TraceCollector;
  let world: World;
  let org: Org;
  beforeAll(async () => {
    collector = await new TraceCollector().listen();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      NODE_OPTIONS: TELLS_WHAT_IT_LOADED,
    };
    world = await openWorld({ name: 'tracing', env });
    org = await world.newOrg();
  });
  afterAll(async () => {
    await world.close();
    await collector.close();
  });

  /** Two things booked and reported, in this trace. */
  async function trip(agent: AgentTrace, paths: readonly string[]): Promise<AgentSession> {
    const session = await org.open();
    for (const path of paths) {
      const body = {
        tool_name: 'book',
        args: { ref: `${session.id} top-secret-argument` },
        effect_class: 'compensable',
        compensation: {
          fn_name: await org.compensation(path, RETRIED_SOON),
          version: '1',
          args: { ref: { $args: '/ref' } },
        },
      };
      const answer = await org.post(`${session.path}/effects`, body, agent.headers);
      expect(answer.status, answer.text).toBe(201);
      await session.commit((JSON.parse(answer.text) as { effect_id: string }).effect_id);
    }
    return session;
  }

  const fail = (session: AgentSession, headers: Record<string, string>) =>
    org.post(`${session.path}/fail`, { reason: 'a top-secret-argument too' }, headers);

  /** The spans of a session, once its unwind is told of. */
  async function spansOf(session: AgentSession, unwinds = 1): Promise<CollectedSpan[]> {
    return vi.waitFor(
      () => {
        const own = collector.spans.filter(({ attributes }) => attributes['undolog.session_id'] === session.id);
        const ended = own.filter(({ name }) => name === 'undolog.unwind').length;
        if (ended < unwinds) throw new Error(`of ${own.length} spans ${ended} are unwinds`);
        return own.toSorted((one, other) => Number(one.startedAtNs - other.startedAtNs));
      },
      { timeout: 10_000, interval: 50 },
    );
  }

  const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);
  const outcomes = (spans: readonly CollectedSpan[]) =>
    named(spans, 'undolog.undo').map(({ attributes: { [`undolog.attempt`]: attempt, ...more } }) => [
      attempt,
      more['http.response.status_code'],
      more['undolog.outcome'],
      more['undolog.state'],
    ]);

  it('leads from the agent through registration and unwind to each call that the vendor got', async () => {
    const agent = newTrace();
    world.vendor.script('/traced/second', { status: 503 });
    const session = await trip(agent, ['/traced/first', '/traced/second']);
    expect((await fail(session, agent.headers)).status).toBe(202);
    await session.reaches('compensated');

    const spans = await spansOf(session);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([agent.traceId]));
    expect(spans.map(({ service, name }) => [service, name])).toEqual([
      ['undolog-api', 'undolog.register'],
      ['undolog-api', 'undolog.register'],
      ['undolog-api', 'undolog.fail'],
      ['undolog-compensator', 'undolog.unwind'],
      ['undolog-compensator', 'undolog.undo'],
      ['undolog-compensator', 'undolog.undo'],
      ['undolog-compensator', 'undolog.undo'],
    ]);
    const [first, second, failure, unwind, ...tries] = spans;
    expect([first, second, failure].map((span) => span!.parentId)).toEqual(Array(3).fill(agent.agentSpanId));
    expect(unwind!.parentId).toBe(failure!.spanId);
    expect(unwind!.attributes['undolog.state']).toBe('compensated');
    expect(tries.map(({ parentId }) => parentId)).toEqual(Array(3).fill(unwind!.spanId));
    expect(tries.map(({ linkedIds }) => linkedIds)).toEqual([[second!.spanId], [second!.spanId], [first!.spanId]]);
    expect(tries.every(({ endedAtNs }) => endedAtNs <= unwind!.endedAtNs)).toBe(true);
    expect(outcomes(spans)).toEqual([
      [1, 503, 'unknown', 'retry'],
      [2, 200, 'done', 'compensated'],
      [1, 200, 'done', 'compensated'],
    ]);
    const told = tries.map(({ spanId }) => `00-${agent.traceId}-${spanId}-01`);
    expect(session.undos().map(({ headers }) => headers['traceparent'])).toEqual(told);
  });

  it('shows the unwind that a person resumes as another one, below what that person did', async () => {
    const agent = newTrace();
    world.vendor.script('/traced/refused', { status: 403 });
    const session = await trip(agent, ['/traced/refused']);
    await fail(session, agent.headers);
    await session.reaches('halted');
    await session.retry();
    await session.reaches('compensated');

    const spans = await spansOf(session, 2);
    const [halted, resumed] = named(spans, 'undolog.unwind');
    const [retry] = named(collector.spans, 'undolog.retry');
    expect([halted!.attributes['undolog.state'], resumed!.attributes['undolog.state']]).toEqual([
      'halted',
      'compensated',
    ]);
    expect(resumed!.parentId).toBe(retry!.spanId);
    // The person is in no trace of the agent's; the vendor's call still is, and is linked to what the person did.
    const [, again] = named(spans, 'undolog.undo');
    expect(resumed!.traceId).not.toBe(agent.traceId);
    expect(again!.traceId).toBe(agent.traceId);
    expect(again!.linkedIds).toEqual([resumed!.spanId]);
  });

  it('holds nothing that an agent or a vendor has written, but ids', () => {
    expect(collector.spans.length).toBeGreaterThan(0);
    const sent = Buffer.concat(collector.bodies);
    expect(sent.includes('top-secret-argument')).toBe(false);
    expect(sent.includes(org.apiKey)).toBe(false);
  });

  it('that nobody takes holds up neither an undo nor the end of a process', async () => {
    await collector.close();
    const session = await trip(newTrace(), ['/untaken']);
    await fail(session, {});
    await session.reaches('compensated');
    const exits = await Promise.all([world.api.stop(), world.compensator.stop()]);
    expect(exits.map(({ code }) => code)).toEqual([0, 0]);
    expect(Math.max(...exits.map(({ afterMs }) => afterMs))).toBeLessThan(15_000);
    for (const one of [world.api, world.compensator]) expect(await modulesLoaded(one.log)).toBeGreaterThan(0);
  });
});

describe('without a collector', () => {
  it("nothing of OpenTelemetry's SDK is loaded, and the vendor still is in the trace of the agent", async () => {
    const world = await openWorld({ name: 'untraced', env: { NODE_OPTIONS: TELLS_WHAT_IT_LOADED } });
    try {
      const org = await world.newOrg();
      const { traceId, headers } = newTrace();
      const session = await org.open();
      const body = {
        tool_name: 'book',
        args: { ref: 'a' },
        effect_class: 'compensable',
        compensation: { fn_name: await org.compensation('/cancel'), version: '1', args: { ref: 'a' } },
      };
      expect((await org.post(`${session.path}/effects`, body, headers)).status).toBe(201);
      await session.fail();
      await session.reaches('compensated');
      expect(session.undos().map((call) => call.headers['traceparent']?.slice(3, 35))).toEqual([traceId]);
      for (const one of [world.api, world.compensator]) {
        expect((await one.stop()).code).toBe(0);
        expect(await modulesLoaded(one.log)).toBe(0);
      }
    } finally {
      await world.close();
    }
  });
});
