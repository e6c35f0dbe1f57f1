import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Session } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { JsonView, Words } from '../parts/json-view';
import { Age, Moment } from '../parts/moment';
import { StateBadge } from '../parts/state-badge';
import { Progress } from '../sessions/progress';

const WHY_IT_ENDED = {
  reported: 'It was reported as failed',
  lease_expired: 'Its agent was not heard of in time',
  cancelled: 'It was called off',
  parent: 'Its parent is being undone',
} as const;

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function SessionFacts({ session }: { readonly session: Session }) {
  const { failure, parent, metadata } = session;
  return (
    <section aria-label="The session">
      <dl className="facts">
        <Fact name="State">
          <StateBadge state={session.state} />
        </Fact>
        <Fact name="Undone">
          <Progress session={session} />
        </Fact>
        <Fact name="Agent">{visible(session.agent_name ?? '—')}</Fact>
        <Fact name="Run">{visible(session.external_run_id ?? '—')}</Fact>
        <Fact name="Opened">
          <Moment at={session.created_at} />
        </Fact>
        <Fact name="If an undo fails">
          {session.on_compensation_failure === 'halt' ? 'stop there' : 'go on with the others'}
        </Fact>
        {session.state === 'active' && session.lease_expires_at !== null && (
          <Fact name="Lease ends">
            <Age at={session.lease_expires_at} />
          </Fact>
        )}
        {session.retry_at !== null && (
          <Fact name="Next try">
            <Age at={session.retry_at} />
          </Fact>
        )}
        {session.rollback_to !== null && <Fact name="Rolling back">to position {session.rollback_to}</Fact>}
        {parent && (
          <Fact name="Child of">
            <Link href={`/sessions/${encodeURIComponent(parent.session_id)}`}>{visible(parent.session_id)}</Link> at
            position {parent.stack_position}
          </Fact>
        )}
      </dl>
      {failure && (
        <p className="failed-because">
          {WHY_IT_ENDED[failure.kind]} at <Moment at={failure.at} />: “<Words value={failure.reason} />”
        </p>
      )}
      {metadata !== null && (
        <details>
          <summary>Metadata</summary>
          <JsonView label="Metadata" value={metadata} />
        </details>
      )}
    </section>
  );
}
