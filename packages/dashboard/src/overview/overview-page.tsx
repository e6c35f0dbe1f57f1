import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Overview } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { ChoiceFilter } from '../parts/filter-fields';
import { Words } from '../parts/json-view';
import { Age } from '../parts/moment';
import { QueryView } from '../parts/query-view';
import { StateBadge } from '../parts/state-badge';
import { useFilters } from '../parts/use-filters';
import { usePageTitle } from '../parts/use-page-title';
import { useApi } from '../server/api';
import { AgesChart, CodesChart } from './dead-letter-charts';
import { LatencyChart } from './latency-chart';
import { SessionsChart } from './sessions-chart';
import { StateTiles } from './state-tiles';

const WINDOWS = { 1: 'Last hour', 24: 'Last day', 168: 'Last week' };
const REFRESH_MS = 10_000;

function Troubles({ overview: { breakers, paused } }: { readonly overview: Overview }) {
  if (breakers.length + paused.length === 0) return <p className="hint">Every vendor may be called.</p>;
  return (
    <ul className="troubles">
      {breakers.map(({ host, state, since, retry_at: retryAt }) => (
        <li key={host}>
          <StateBadge state={state} /> <code>{visible(host)}</code>{' '}
          <span className="hint">
            {since !== null && (
              <>
                since <Age at={since} />
              </>
            )}
            {retryAt !== null && (
              <>
                , asked again <Age at={retryAt} />
              </>
            )}
          </span>
        </li>
      ))}
      {paused.map(({ fn_name: name, pause_reason: why }) => (
        <li key={name}>
          <StateBadge state="paused" />{' '}
          <Link href={`/compensations?search=${encodeURIComponent(name)}`}>{visible(name)}</Link> “<Words value={why} />
          ”
        </li>
      ))}
    </ul>
  );
}

function Pictures({ overview }: { readonly overview: Overview }) {
  const { dead_letters: letters } = overview;
  return (
    <>
      <StateTiles overview={overview} />
      {overview.sampled && <p className="hint">So much happened that the pictures show its newest part only.</p>}
      <div className="pictures">
        <section className="wide">
          <h2>Sessions</h2>
          <SessionsChart buckets={overview.buckets} hours={overview.hours} />
        </section>
        <section>
          <h2>Time from failure to the last undo</h2>
          <LatencyChart unwind={overview.unwind} />
        </section>
        <section>
          <h2>Dead letters by age</h2>
          <AgesChart letters={letters} />
        </section>
        <section>
          <h2>Dead letters by code</h2>
          <CodesChart letters={letters} />
        </section>
        <section>
          <h2>Vendors that are not called now</h2>
          <Troubles overview={overview} />
        </section>
      </div>
    </>
  );
}

export function OverviewPage() {
  usePageTitle('Overview');
  const api = useApi();
  const [{ hours = '24' }, change] = useFilters(['hours']);
  const query = useQuery({
    queryKey: ['overview', hours],
    queryFn: () => api.overview({ hours: Number(hours) }),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
  return (
    <>
      <div className="title-row">
        <h1>Overview</h1>
        <ChoiceFilter label="Time" value={hours} choices={WINDOWS} change={(next) => change({ hours: next })} />
      </div>
      <QueryView query={query}>{(overview) => <Pictures overview={overview} />}</QueryView>
    </>
  );
}
