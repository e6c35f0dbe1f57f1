import { Gauge, type Registry } from 'prom-client';
import type { Standing } from '../domain/standing.js';

/** What a process looks at just before a scrape is written. */
export interface Looks {
  readStanding(): Promise<Standing>;
  /** What keeps this process from its work; rejects when Postgres does not answer. */
  findFault(): Promise<string | undefined>;
}

/** Adds the gauges that are read just before a scrape is written. @returns what reads them. */
export function addStanding(registry: Registry, { readStanding, findFault }: Looks): () => Promise<void> {
  const registers = [registry];
  const gauge = <L extends string = never>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers });

  const sessions = gauge('undolog_sessions', 'Sessions that have not ended and are not active, by state.', 'state');
  const unwinding = gauge('undolog_oldest_unwinding_session_seconds', 'Age of the unwind that goes on longest.');
  const deadLetters = gauge('undolog_dead_letters_open', 'Open dead letters.');
  const oldest = gauge('undolog_oldest_halted_session_seconds', 'Age of the session that has been halted longest.');
  const breakers = gauge('undolog_breakers_open', 'Hosts that are down, each of one org: their entries wait.');
  const waiting = gauge(
    'undolog_waiting_entries',
    'Entries that are next and wait, by code; not all are counted.',
    'code',
  );
  const processes = gauge('undolog_processes', 'Processes that were seen within half a minute, by role.', 'role');
  const fault = gauge('undolog_process_fault', '1: what keeps this process from all or part of its work.', 'fault');

  function show(standing: Standing): void {
    for (const [state, count] of Object.entries(standing.sessionsByState)) sessions.set({ state }, count);
    for (const [code, count] of Object.entries(standing.waitingByCode)) waiting.set({ code }, count);
    for (const [role, count] of Object.entries(standing.processesByRole)) processes.set({ role }, count);
    unwinding.set(standing.oldestUnwindingSeconds);
    deadLetters.set(standing.openDeadLetters);
    oldest.set(standing.oldestHaltedSeconds);
    breakers.set(standing.openBreakers);
  }

  return async () => {
    const [standing, found] = await Promise.all([
      readStanding().catch(() => undefined),
      findFault().catch(() => 'postgres_unreachable'),
    ]);
    fault.reset();
    fault.set({ fault: found ?? 'none' }, found === undefined ? 0 : 1);
    if (standing) return show(standing);
    // Old figures must not pass for new ones.
    for (const one of [sessions, waiting, processes]) one.reset();
    for (const one of [unwinding, deadLetters, oldest, breakers]) one.remove();
  };
}
