import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Standing } from '../domain/standing.js';

export interface Metrics {
  /** `decision`: what the agent was told. */
  readonly registrations: Counter<'decision'>;
  /** `state`: in which an undo entry settled. */
  readonly undoOutcomes: Counter<'state'>;
  /** From the failure of a session to the end of its unwind. */
  readonly unwindSeconds: Histogram;
  /** `kind`: what the sweep found: a lost job, an expired lease, a worker that is gone. */
  readonly sweepRescues: Counter<'kind'>;
  /** Undo entries whose vendor will soon undo them no more. */
  readonly undoDeadlinesNear: Counter;
  /** Success reports that came after their session had ended. */
  readonly lateReports: Counter;
  readonly httpSeconds: Histogram<'method' | 'route' | 'status'>;
  readonly contentType: string;
  /** The text of a scrape. */
  expose(): Promise<string>;
}

const UNWIND_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200];
const HTTP_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/**
 * @param readStanding read at each scrape where given; a scrape goes on without those gauges when it fails.
 */
export function createMetrics(options: { readStanding?: () => Promise<Standing> } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const refresh = options.readStanding && addStanding(registry, options.readStanding);
  return {
    registrations: new Counter({
      name: 'undolog_registrations_total',
      help: 'Effects that agents asked to register, by decision.',
      labelNames: ['decision'],
      registers,
    }),
    undoOutcomes: new Counter({
      name: 'undolog_undo_outcomes_total',
      help: 'Undo entries that were settled, by state.',
      labelNames: ['state'],
      registers,
    }),
    unwindSeconds: new Histogram({
      name: 'undolog_unwind_seconds',
      help: 'From the failure of a session to the end of its unwind.',
      buckets: UNWIND_BUCKETS_SECONDS,
      registers,
    }),
    sweepRescues: new Counter({
      name: 'undolog_sweep_rescues_total',
      help: 'Things that only the sweep found, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    undoDeadlinesNear: new Counter({
      name: 'undolog_undo_deadlines_near_total',
      help: "Undo entries not settled when 80 % of their vendor's window was over.",
      registers,
    }),
    lateReports: new Counter({
      name: 'undolog_late_reports_total',
      help: 'Success reports that came after their session had ended.',
      registers,
    }),
    httpSeconds: new Histogram({
      name: 'undolog_http_request_seconds',
      help: 'Time to answer a request.',
      labelNames: ['method', 'route', 'status'],
      buckets: HTTP_BUCKETS_SECONDS,
      registers,
    }),
    contentType: registry.contentType,
    async expose() {
      await refresh?.();
      return registry.metrics();
    },
  };
}

type Refresh = () => Promise<void>;

/** Gauges that are read from Postgres just before a scrape is written. */
function addStanding(registry: Registry, readStanding: () => Promise<Standing>): Refresh {
  const registers = [registry];
  const sessions = new Gauge({
    name: 'undolog_sessions',
    help: 'Sessions that have not ended and are not active, by state.',
    labelNames: ['state'],
    registers,
  });
  const deadLetters = new Gauge({ name: 'undolog_dead_letters_open', help: 'Open dead letters.', registers });
  const oldest = new Gauge({
    name: 'undolog_oldest_halted_session_seconds',
    help: 'Age of the session that has been halted longest.',
    registers,
  });
  const breakers = new Gauge({
    name: 'undolog_breakers_open',
    help: 'Hosts that are down, each of one org: their entries wait.',
    registers,
  });
  return async () => {
    const standing = await readStanding().catch(() => undefined);
    // Old figures must not pass for new ones, so the gauges are emptied when Postgres does not answer.
    if (!standing) {
      for (const gauge of [deadLetters, oldest, breakers]) gauge.remove();
      return sessions.reset();
    }
    for (const [state, count] of Object.entries(standing.sessionsByState)) sessions.set({ state }, count);
    deadLetters.set(standing.openDeadLetters);
    oldest.set(standing.oldestHaltedSeconds);
    breakers.set(standing.openBreakers);
  };
}
