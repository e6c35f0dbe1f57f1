import { useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { visible } from '@undolog/client/visible-text';
import { FormDialog, textOf } from '../parts/form-dialog';
import { reasonOf } from '../parts/failure';
import { ReasonField } from '../parts/reason-field';
import { useApi } from '../server/api';
import { useTell } from '../shell/notices';

interface PauseButtonProps {
  readonly fnName: string;
  readonly paused: boolean;
}

/** Parks every undo of a compensation, all versions, and lets them go again. */
export function PauseButton({ fnName, paused }: PauseButtonProps) {
  const api = useApi();
  const queries = useQueryClient();
  const tell = useTell();
  const [asked, ask] = useState(false);
  const onSettled = () => queries.invalidateQueries({ queryKey: ['compensations'] });
  const pause = useMutation({
    mutationFn: (reason: string) => api.compensations.pause(fnName, reason),
    onSuccess: () => ask(false),
    onSettled,
  });
  const resume = useMutation({
    mutationFn: () => api.compensations.resume(fnName),
    onError: (error) => tell('bad', reasonOf(error)),
    onSettled,
  });
  if (paused) {
    return (
      <button type="button" className="primary" disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume
      </button>
    );
  }
  return (
    <>
      <button type="button" onClick={() => ask(true)}>
        Pause
      </button>
      {asked && (
        <FormDialog
          title={`Pause ${visible(fnName)}`}
          action="Pause it"
          busy={pause.isPending}
          error={pause.error}
          close={() => ask(false)}
          submit={(fields) => pause.mutate(textOf(fields, 'reason'))}
        >
          <p>All its undos, of all versions, wait until it is resumed. New calls are still registered with it.</p>
          <ReasonField label="Why" required />
        </FormDialog>
      )}
    </>
  );
}
