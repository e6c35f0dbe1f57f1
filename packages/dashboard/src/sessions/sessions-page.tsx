import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { PageQuery, Session, SessionQuery } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { DataTable, type Columns } from '../parts/data-table';
import { FilterBar } from '../parts/filter-bar';
import { ChoiceFilter, TextFilter, TimeFilter } from '../parts/filter-fields';
import { Age } from '../parts/moment';
import { QueryView } from '../parts/query-view';
import { StateBadge } from '../parts/state-badge';
import { useFilters } from '../parts/use-filters';
import { usePages } from '../parts/use-pages';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { Progress } from './progress';

const FILTERS = ['state', 'session_id', 'external_run_id', 'agent_name', 'created_after', 'created_before'] as const;

const STATES = {
  '': 'All',
  halted: 'Halted',
  'failed,compensating': 'Being undone',
  active: 'Active',
  compensated: 'Compensated',
  completed: 'Completed',
  resolved: 'Resolved by hand',
};

/** What was opened since the list was read is looked for this often. */
const NEWEST_MS = 3_000;

const columns: Columns<Session> = [
  {
    id: 'session',
    header: 'Session',
    cell: ({ row: { original } }) => (
      <Link href={`/sessions/${encodeURIComponent(original.session_id)}`}>{visible(original.session_id)}</Link>
    ),
  },
  { id: 'state', header: 'State', cell: ({ row }) => <StateBadge state={row.original.state} /> },
  { id: 'progress', header: 'Undone', cell: ({ row }) => <Progress session={row.original} /> },
  { id: 'agent', header: 'Agent', cell: ({ row }) => visible(row.original.agent_name ?? '—') },
  { id: 'run', header: 'Run', cell: ({ row }) => visible(row.original.external_run_id ?? '—') },
  { id: 'opened', header: 'Opened', cell: ({ row }) => <Age at={row.original.created_at} /> },
];

/** The list as it was read, and before it what was opened since. */
function useSessions(filters: SessionQuery) {
  const api = useApi();
  const read = (page: PageQuery) => api.sessions.list({ ...filters, ...page });
  const { query, rows, more } = usePages(['sessions', 'pages', filters], read);
  const newest = useQuery({
    queryKey: ['sessions', 'newest', filters],
    queryFn: () => read({ limit: 50 }),
    refetchInterval: NEWEST_MS,
  });
  const all = useMemo(() => {
    const fresh = new Map(newest.data?.data.map((session) => [session.session_id, session]));
    const known = rows.map((row) => fresh.get(row.session_id) ?? row);
    for (const { session_id: id } of rows) fresh.delete(id);
    return [...fresh.values(), ...known];
  }, [rows, newest.data]);
  return { query, rows: all, more };
}

export function SessionsPage() {
  usePageTitle('Sessions');
  const [filters, change] = useFilters(FILTERS);
  const { query, rows, more } = useSessions(filters);
  return (
    <div className="list-page">
      <h1>Sessions</h1>
      <FilterBar
        search={
          <TextFilter
            search
            label="Session id begins with"
            value={filters.session_id}
            change={(session_id) => change({ session_id })}
          />
        }
      >
        <ChoiceFilter label="State" value={filters.state} choices={STATES} change={(state) => change({ state })} />
        <TextFilter label="Agent" value={filters.agent_name} change={(agent_name) => change({ agent_name })} />
        <TextFilter
          label="Run id"
          value={filters.external_run_id}
          change={(external_run_id) => change({ external_run_id })}
        />
        <TimeFilter
          label="Opened after"
          value={filters.created_after}
          change={(created_after) => change({ created_after })}
        />
        <TimeFilter
          label="Opened before"
          value={filters.created_before}
          change={(created_before) => change({ created_before })}
        />
      </FilterBar>
      <QueryView query={query}>
        {() => (
          <DataTable
            label="Sessions"
            kind="sessions"
            columns={columns}
            rows={rows}
            idOf={(session) => session.session_id}
            more={more}
            empty="No session is like that."
          />
        )}
      </QueryView>
    </div>
  );
}
