import { useState } from 'react';
import { Link } from 'wouter';
import type { DeadLetter, DeadLetterQuery } from '@undolog/client';
import { explain } from '@undolog/client/explain';
import { visible } from '@undolog/client/visible-text';
import { DataTable, type Columns } from '../parts/data-table';
import { FilterBar } from '../parts/filter-bar';
import { ChoiceFilter, TextFilter } from '../parts/filter-fields';
import { Age } from '../parts/moment';
import { QueryView } from '../parts/query-view';
import { StateBadge } from '../parts/state-badge';
import { useFilters } from '../parts/use-filters';
import { usePages } from '../parts/use-pages';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { useShortcuts } from '../shell/shortcuts';
import { ActionDialog, type Ask, type Asked } from './action-dialogs';
import { DrainDialog } from './drain-dialog';
import { brokenThing, lastTry } from './letter-words';

const FILTERS = ['state', 'session_id', 'agent_name', 'fn_name', 'code', 'host'] as const;
const STATES = { open: 'Open', closed: 'Closed', all: 'All' };

const columns: Columns<DeadLetter> = [
  {
    id: 'session',
    header: 'Session',
    cell: ({ row: { original: letter } }) => (
      <Link href={`/dead-letters/${letter.dead_letter_id}`}>{visible(letter.session_id)}</Link>
    ),
  },
  {
    id: 'broken',
    header: 'What broke',
    cell: ({ row: { original: letter } }) => (
      <>
        <strong>{brokenThing(letter)}</strong>
        {letter.stack_position !== null && <span className="hint"> at {letter.stack_position}</span>}
      </>
    ),
  },
  {
    id: 'cause',
    header: 'Likely cause',
    cell: ({ row: { original: letter } }) => (
      <span title={`${lastTry(letter)}: ${explain(letter.code)}`}>
        <code>{visible(letter.code ?? '—')}</code> <span className="hint">{explain(letter.code)}</span>
      </span>
    ),
  },
  { id: 'attempts', header: 'Tries', cell: ({ row }) => row.original.attempts },
  { id: 'waiting', header: 'Behind it', cell: ({ row }) => row.original.not_undone.length },
  { id: 'halted', header: 'Halted', cell: ({ row }) => <Age at={row.original.halted_at} /> },
  { id: 'state', header: 'State', cell: ({ row }) => <StateBadge state={row.original.state} /> },
];

/** The boxes that pick letters are the first column. */
function withBoxes(picked: ReadonlySet<string>, pick: (letter: DeadLetter) => void): Columns<DeadLetter> {
  return [
    {
      id: 'pick',
      header: 'Pick',
      cell: ({ row: { original: letter } }) =>
        letter.state === 'open' && (
          <input
            type="checkbox"
            aria-label={`Pick session ${letter.session_id}`}
            checked={picked.has(letter.session_id)}
            onChange={() => pick(letter)}
          />
        ),
    },
    ...columns,
  ];
}

function usePicked(): [ReadonlySet<string>, (letter: DeadLetter) => void, () => void] {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const toggle = ({ session_id: id, state }: DeadLetter): void => {
    if (state !== 'open') return;
    setPicked((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]));
  };
  return [picked, toggle, () => setPicked(new Set())];
}

export function DeadLettersPage() {
  usePageTitle('Dead letters');
  const api = useApi();
  const [{ state = 'open', ...filters }, change] = useFilters(FILTERS);
  const filter: DeadLetterQuery = { ...filters, ...(state !== 'all' && { state: state as 'open' | 'closed' }) };
  const { query, rows, more } = usePages(['dead-letters', 'pages', filter], (page) =>
    api.deadLetters.list({ ...filter, ...page }),
  );
  const [picked, pick, unpick] = usePicked();
  const [asked, setAsked] = useState<Asked>();
  const [draining, setDraining] = useState(false);
  const asking = (ask: Ask) => (letter: DeadLetter) => letter.state === 'open' && setAsked({ ask, letter });
  useShortcuts({ b: () => setDraining(true) });
  return (
    <div className="list-page">
      <h1>Dead letters</h1>
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
        <ChoiceFilter label="State" value={state} choices={STATES} change={(next) => change({ state: next })} />
        <TextFilter label="Compensation" value={filters.fn_name} change={(fn_name) => change({ fn_name })} />
        <TextFilter label="Code" value={filters.code} change={(code) => change({ code })} />
        <TextFilter label="Agent" value={filters.agent_name} change={(agent_name) => change({ agent_name })} />
        <TextFilter label="Host" value={filters.host} change={(host) => change({ host })} />
        <button type="button" onClick={() => setDraining(true)}>
          {picked.size > 0 ? `Act on ${picked.size} picked` : 'Act on many'} <kbd>b</kbd>
        </button>
      </FilterBar>
      <QueryView query={query}>
        {() => (
          <DataTable
            label="Dead letters"
            kind="dead-letters"
            columns={withBoxes(picked, pick)}
            rows={rows}
            idOf={(letter) => letter.dead_letter_id}
            more={more}
            empty={state === 'open' ? 'Nothing waits for a person.' : 'No dead letter is like that.'}
            keys={{ r: asking('retry'), e: asking('correct'), s: asking('skip'), x: asking('resolve'), ' ': pick }}
          />
        )}
      </QueryView>
      {asked && <ActionDialog {...asked} close={() => setAsked(undefined)} />}
      {draining && <DrainDialog filter={filters} picked={picked} close={() => setDraining(false)} done={unpick} />}
    </div>
  );
}
