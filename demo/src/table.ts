import CliTable3 from 'cli-table3';
import pc from 'picocolors';
import type { RunReport } from './report.js';

interface Row {
  readonly label: string;
  text(run: RunReport): string;
  /** Whether the figure is bad news; undefined where it is neither good nor bad. */
  bad?(run: RunReport): boolean;
}

const NOT_APPLICABLE = '–';

const ROWS: readonly Row[] = [
  { label: 'trips completed', text: (run) => String(run.trips_completed) },
  { label: 'failed sagas', text: (run) => String(run.failed_sagas) },
  {
    label: 'orphaned cost',
    text: (run) => dollars(run.orphaned_cost_cents),
    bad: (run) => run.orphaned_cost_cents > 0,
  },
  {
    label: 'fully compensated',
    text: (run) =>
      run.fully_compensated_share === null ? NOT_APPLICABLE : `${Math.floor(run.fully_compensated_share * 100)} %`,
    bad: (run) => run.fully_compensated < run.failed_sagas,
  },
  { label: 'waiting for a vendor', text: (run) => count(run.waiting) },
  { label: 'halted', text: (run) => count(run.halted), bad: (run) => (run.halted ?? 0) > 0 },
  { label: 'unconfirmed', text: (run) => count(run.unconfirmed), bad: (run) => (run.unconfirmed ?? 0) > 0 },
  {
    label: 'order violations',
    text: (run) => String(run.order_violations),
    bad: (run) => run.order_violations > 0,
  },
  {
    label: 'ledger disagrees',
    text: (run) => (run.halted === null ? NOT_APPLICABLE : String(run.disagreements.length)),
    bad: (run) => run.disagreements.length > 0,
  },
  { label: 'time', text: (run) => `${(run.duration_ms / 1_000).toFixed(1)} s` },
];

/** The runs side by side: a row per figure, a column per run. Colours only where the terminal wants them. */
export function renderTable(runs: readonly RunReport[]): string {
  const table = new CliTable3({
    head: ['by the ledgers', ...runs.map(({ run }) => run)].map((title) => pc.bold(title)),
    colAligns: ['left', ...runs.map(() => 'right' as const)],
    style: { head: [], border: [] },
  });
  for (const row of ROWS) table.push([row.label, ...runs.map((run) => paint(row, run))]);
  return table.toString();
}

function paint(row: Row, run: RunReport): string {
  const text = row.text(run);
  if (row.bad === undefined || text === NOT_APPLICABLE) return text;
  return row.bad(run) ? pc.red(text) : pc.green(text);
}

function dollars(cents: number): string {
  return `$${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })}`;
}

function count(figure: number | null): string {
  return figure === null ? NOT_APPLICABLE : String(figure);
}
