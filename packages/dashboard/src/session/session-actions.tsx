import { useState } from 'react';
import type { Session } from '@undolog/client';
import { useShortcuts } from '../shell/shortcuts';
import { FailDialog } from './fail-dialog';
import { PlanDialog } from './plan-dialog';

const ENDED: ReadonlySet<Session['state']> = new Set(['completed', 'compensated', 'resolved']);

/** What can be done with a session itself: look at what an unwind would do, and start it. */
export function SessionActions({ session }: { readonly session: Session }) {
  const [shown, show] = useState<'plan' | 'fail'>();
  const close = (): void => show(undefined);
  const planned = ENDED.has(session.state) ? undefined : () => show('plan');
  const failing = session.state === 'active' ? () => show('fail') : undefined;
  useShortcuts({ p: planned, f: failing });
  return (
    <div className="actions" role="group" aria-label="The session">
      {planned && (
        <button type="button" onClick={planned}>
          Preview the plan <kbd>p</kbd>
        </button>
      )}
      {failing && (
        <button type="button" className="danger" onClick={failing}>
          Fail and undo <kbd>f</kbd>
        </button>
      )}
      {shown === 'plan' && <PlanDialog id={session.session_id} close={close} />}
      {shown === 'fail' && <FailDialog id={session.session_id} close={close} />}
    </div>
  );
}
