import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { UndoState } from '../domain/states.js';
import { addStanding, type Looks } from './standing-gauges.js';

export interface Metrics {
  /** `decision`: what the agent was told. */
  readonly registrations: Counter<'decision'>;
  /** `state`: in which an undo entry settled. */
  readonly undoOutcomes: Counter<'state'>;
  /** From the failure of a session to the end of its unwind. */
  readonly unwindSeconds: Histogram;
  /** `kind`: what the sweep found: a lost job, an expired lease, a worker that is gone. */
  readonly sweepRescues: Counter<'kind'>;
  readonly sweptAt: Gauge;
  readonly sweepFailures: Counter;
  /** `kind`: nobody knows what became of it, or nothing was written and each operation runs by itself. */
  readonly commitFailures: Counter<'kind'>;
  /** Undo entries whose vendor will soon undo them no more. */
  readonly undoDeadlinesNear: Counter;
  /** Success reports that came after their session had ended. */
  readonly lateReports: Counter;
  readonly httpSeconds: Histogram<'method' | 'route' | 'status'>;
  readonly contentType: string;
  /** The text of a scrape. */
  expose(): Promise<string>;
}

const SETTLED_STATES = ['compensated', 'failed', 'unconfirmed', 'skipped'] as const satisfies readonly UndoState[];
const UNWIND_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200];
const HTTP_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** A counter whose labels have few values shows all of them from the start: a rise from nothing is no rise to Prometheus. */
function counterOf<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: L,
  values: readonly string[],
): Counter<L> {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.inc({ [label]: value } as Record<L, string>, 0);
  return counter;
}

/** @param looks taken at each scrape where given; a scrape goes on without those gauges when Postgres does not answer. */
export function createMetrics(looks?: Looks): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  collectDefaultMetrics({ register: registry });
  const refresh = looks && addStanding(registry, looks);
  return {
    registrations: counterOf(
      registry,
      'undolog_registrations_total',
      'Effects that agents asked to register, by decision.',
      'decision',
      ['execute', 'in_flight', 'replay', 'refuse'],
    ),
    undoOutcomes: counterOf(
      registry,
      'undolog_undo_outcomes_total',
      'Undo entries that were settled, by state.',
      'state',
      SETTLED_STATES,
    ),
    unwindSeconds: new Histogram({
      name: 'undolog_unwind_seconds',
      help: 'From the failure of a session to the end of its unwind.',
      buckets: UNWIND_BUCKETS_SECONDS,
      registers,
    }),
    sweepRescues: counterOf(
      registry,
      'undolog_sweep_rescues_total',
      'Things that only the sweep found, by kind.',
      'kind',
      ['wake_up', 'lease_expired', 'dead_letter'],
    ),
    sweptAt: new Gauge({
      name: 'undolog_swept_at_seconds',
      help: 'When the last sweep of this process ended, in seconds since 1970.',
      registers,
    }),
    sweepFailures: counter('undolog_sweep_failures_total', 'Duties of the sweep that failed and are tried again.'),
    commitFailures: counterOf(
      registry,
      'undolog_group_commit_failures_total',
      'Shared transactions that failed: Postgres did not answer, or each operation had to run apart.',
      'kind',
      ['unavailable', 'apart'],
    ),
    undoDeadlinesNear: counter(
      'undolog_undo_deadlines_near_total',
      "Undo entries not settled when 80 % of their vendor's window was over.",
    ),
    lateReports: counter('undolog_late_reports_total', 'Success reports that came after their session had ended.'),
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
