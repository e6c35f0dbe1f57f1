import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FormDialog, textOf } from '../parts/form-dialog';
import { QueryView } from '../parts/query-view';
import { ReasonField } from '../parts/reason-field';
import { useApi } from '../server/api';
import { PlanSteps, usePlan } from './plan-dialog';

/** Fails an active session, and with it starts the plan that is shown: should it have changed, nothing is done. */
export function FailDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const plan = usePlan(id);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (reason: string) =>
      api.sessions.fail(id, { reason, ...(plan.data && { plan_digest: plan.data.digest }) }),
    onSuccess: close,
    onSettled: () => queries.invalidateQueries({ queryKey: ['session', id] }),
  });
  return (
    <FormDialog
      title="Fail the session and undo it"
      action="Fail it"
      dangerous
      busy={isPending || plan.data === undefined}
      error={error}
      close={close}
      submit={(fields) => mutate(textOf(fields, 'reason'))}
    >
      <QueryView query={plan}>{(shown) => <PlanSteps plan={shown} />}</QueryView>
      <ReasonField label="Why" required />
    </FormDialog>
  );
}
