import { useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Compensation, CompensationOutcomes } from '@undolog/client';
import { FilterBar } from '../parts/filter-bar';
import { TextFilter } from '../parts/filter-fields';
import { QueryView } from '../parts/query-view';
import { useFilters } from '../parts/use-filters';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { CompensationCard } from './compensation-card';

const OUTCOME_HOURS = 24;

/** `fn@version`, under which an outcome is found. */
const nameOf = ({ fn_name: name, version }: { fn_name: string; version: string }): string => `${name}@${version}`;

function matches({ fn_name: name, url }: Compensation, search: string): boolean {
  return `${name} ${url}`.toLowerCase().includes(search.toLowerCase());
}

export function CompensationsPage() {
  usePageTitle('Compensations');
  const api = useApi();
  const [{ search = '' }, change] = useFilters(['search']);
  const list = useQuery({ queryKey: ['compensations', 'list'], queryFn: () => api.compensations.list() });
  const outcomes = useQuery({
    queryKey: ['compensations', 'outcomes'],
    queryFn: () => api.compensations.outcomes({ hours: OUTCOME_HOURS }),
  });
  const byName = useMemo(
    () => new Map<string, CompensationOutcomes>(outcomes.data?.data.map((one) => [nameOf(one), one])),
    [outcomes.data],
  );
  return (
    <>
      <h1>Compensations</h1>
      <FilterBar
        search={
          <TextFilter search label="Name or address" value={search} change={(text) => change({ search: text })} />
        }
      />
      <QueryView query={list}>
        {(all) => {
          const shown = all.filter((one) => matches(one, search));
          if (shown.length === 0) return <p className="hint">No compensation is registered under such a name.</p>;
          return (
            <ul className="cards">
              {shown.map((one) => (
                <CompensationCard key={nameOf(one)} compensation={one} outcomes={byName.get(nameOf(one))} />
              ))}
            </ul>
          );
        }}
      </QueryView>
    </>
  );
}
