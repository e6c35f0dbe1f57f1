import { useQuery } from '@tanstack/react-query';
import type { Plan } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { CloseFooter, Dialog } from '../parts/dialog';
import { QueryView } from '../parts/query-view';
import { useApi } from '../server/api';

export function usePlan(id: string) {
  const api = useApi();
  return useQuery({ queryKey: ['session', id, 'plan'], queryFn: () => api.sessions.plan(id), staleTime: 0 });
}

const ACTIONS = { call: 'Calls', lookup: 'Asks whether it took effect, then calls', skip: 'Skips' } as const;

export function PlanSteps({ plan: { steps, cannot_undo: stuck, unknown } }: { readonly plan: Plan }) {
  if (steps.length === 0) return <p>There is nothing to undo.</p>;
  return (
    <>
      <ol className="plan">
        {steps.map((step) => (
          <li key={step.undo_id} className={step.action}>
            <span className="position">{step.stack_position}</span> {ACTIONS[step.action]}{' '}
            {step.fn_name !== null && (
              <strong>
                {visible(step.fn_name)}@{visible(step.version ?? '')}
              </strong>
            )}{' '}
            <span className="hint">{visible(step.reason.replaceAll('_', ' '))}</span>
          </li>
        ))}
      </ol>
      <p className="hint">
        {stuck.length} cannot be undone; of {unknown.length} it is not known whether they took effect.
      </p>
    </>
  );
}

/** What an unwind would do now, in its order. Nothing is called for it. */
export function PlanDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const plan = usePlan(id);
  return (
    <Dialog title="What an unwind would do now" close={close}>
      <QueryView query={plan}>{(shown) => <PlanSteps plan={shown} />}</QueryView>
      <CloseFooter close={close} />
    </Dialog>
  );
}
