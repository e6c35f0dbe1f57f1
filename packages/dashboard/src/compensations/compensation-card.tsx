import { useState } from 'react';
import { Link } from 'wouter';
import type { Compensation, CompensationOutcomes } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { JsonView, Words } from '../parts/json-view';
import { Age } from '../parts/moment';
import { StateBadge } from '../parts/state-badge';
import { PauseButton } from './pause-button';

const ENDS = ['compensated', 'failed', 'unconfirmed', 'skipped'] as const;

function Outcomes({ outcomes }: { readonly outcomes: CompensationOutcomes }) {
  const shown = ENDS.filter((end) => outcomes[end] > 0);
  if (shown.length === 0) return <span className="hint">not called in the last 24 hours</span>;
  return (
    <>
      <span role="img" className="bar" aria-label={shown.map((end) => `${outcomes[end]} ${end}`).join(', ')}>
        {shown.map((end) => (
          <span key={end} className={`part ${end}`} style={{ flexGrow: outcomes[end] }} />
        ))}
      </span>
      <span className="counts">
        {shown.map((end) => (
          <span key={end}>
            {outcomes[end]} {end}
          </span>
        ))}
      </span>
    </>
  );
}

interface CompensationCardProps {
  readonly compensation: Compensation;
  readonly outcomes: CompensationOutcomes | undefined;
}

/** An endpoint: where it is, how its host is doing, how its undos ended in the last day. */
export function CompensationCard({ compensation, outcomes }: CompensationCardProps) {
  const [open, setOpen] = useState(false);
  const { fn_name: name, version, url, breaker, paused, pause_reason: why, created_at: at, ...spec } = compensation;
  return (
    <li className="card">
      <h2>
        {visible(name)}@{visible(version)}
      </h2>
      <p className="url">
        <code>{visible(url)}</code>
      </p>
      <p>
        Host:{' '}
        {breaker.state === 'closed' ? <span className="hint">answers</span> : <StateBadge state={breaker.state} />}
        {breaker.retry_at !== null && (
          <>
            {' '}
            asked again <Age at={breaker.retry_at} />
          </>
        )}
      </p>
      {paused && (
        <p className="cause">
          <StateBadge state="paused" /> “<Words value={why} />”
        </p>
      )}
      <div className="outcomes">{outcomes ? <Outcomes outcomes={outcomes} /> : null}</div>
      <div className="actions">
        <PauseButton fnName={name} paused={paused} />
        <Link href={`/dead-letters?fn_name=${encodeURIComponent(name)}`}>Its dead letters</Link>
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          As it was registered <Age at={at} />
        </summary>
        {open && <JsonView label="Specification" value={{ url, ...spec }} />}
      </details>
    </li>
  );
}
