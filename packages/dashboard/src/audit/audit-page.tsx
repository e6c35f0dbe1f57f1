import { Link } from 'wouter';
import type { AuditEntry, AuditQuery } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { DataTable, type Columns } from '../parts/data-table';
import { FilterBar } from '../parts/filter-bar';
import { TextFilter, TimeFilter } from '../parts/filter-fields';
import { Words } from '../parts/json-view';
import { Moment } from '../parts/moment';
import { QueryView } from '../parts/query-view';
import { useFilters } from '../parts/use-filters';
import { usePages } from '../parts/use-pages';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { VerifyAudit } from './verify-audit';

const FILTERS = ['session_id', 'undo_id', 'actor', 'action', 'since', 'until'] as const;

function Reason({ entry: { reason, reason_erased: erased } }: { readonly entry: AuditEntry }) {
  if (erased) return <span className="hint">erased</span>;
  if (reason === null) return null;
  return (
    <span title={typeof reason === 'string' ? visible(reason) : undefined}>
      <Words value={reason} />
    </span>
  );
}

const columns: Columns<AuditEntry> = [
  { id: 'at', header: 'When', cell: ({ row }) => <Moment at={row.original.at} /> },
  {
    id: 'actor',
    header: 'Who',
    cell: ({ row: { original: entry } }) => (
      <span title={entry.actor}>{visible(entry.actor_name ?? entry.actor_role ?? entry.actor)}</span>
    ),
  },
  { id: 'action', header: 'What', cell: ({ row }) => <code>{visible(row.original.action)}</code> },
  {
    id: 'move',
    header: 'Before → after',
    cell: ({ row: { original: entry } }) =>
      entry.after === null ? '' : `${visible(entry.before ?? '—')} → ${visible(entry.after)}`,
  },
  {
    id: 'on',
    header: 'On',
    cell: ({ row: { original: entry } }) =>
      entry.session_id === null ? (
        visible(entry.fn_name ?? '')
      ) : (
        <Link href={`/sessions/${encodeURIComponent(entry.session_id)}`}>{visible(entry.session_id)}</Link>
      ),
  },
  { id: 'reason', header: 'Why', cell: ({ row }) => <Reason entry={row.original} /> },
];

export function AuditPage() {
  usePageTitle('Audit log');
  const api = useApi();
  const [filters, change] = useFilters(FILTERS);
  const { query, rows, more } = usePages(['audit', 'pages', filters], (page) =>
    api.audit.list({ ...(filters as AuditQuery), ...page }),
  );
  return (
    <div className="list-page">
      <h1>Audit log</h1>
      <VerifyAudit />
      <FilterBar
        search={
          <TextFilter
            search
            label="Session id"
            value={filters.session_id}
            change={(session_id) => change({ session_id })}
          />
        }
      >
        <TextFilter label="Action" value={filters.action} change={(action) => change({ action })} />
        <TextFilter label="Who (key id)" value={filters.actor} change={(actor) => change({ actor })} />
        <TimeFilter label="Since" value={filters.since} change={(since) => change({ since })} />
        <TimeFilter label="Until" value={filters.until} change={(until) => change({ until })} />
      </FilterBar>
      <QueryView query={query}>
        {() => (
          <DataTable
            label="Audit log"
            kind="audit"
            columns={columns}
            rows={rows}
            idOf={(entry) => String(entry.seq)}
            more={more}
            empty="Nothing like that was done."
          />
        )}
      </QueryView>
    </div>
  );
}
