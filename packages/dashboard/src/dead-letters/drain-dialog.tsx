import { useId, useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { BulkDeadLetters, DrainProgress } from '@undolog/client';
import { FormDialog, textOf } from '../parts/form-dialog';
import { QueryView } from '../parts/query-view';
import { useApi } from '../server/api';
import { bulkFilterOf, inWords, type BulkFilter, type ListFilter } from './bulk-filter';
import { DrainMeter } from './drain-meter';

type Action = BulkDeadLetters['action'];

const ACTIONS: Readonly<Record<Action, string>> = { retry: 'Retry', skip: 'Skip', resolve: 'Resolve' };

interface FieldsProps {
  readonly action: Action;
  readonly choose: (action: Action) => void;
}

function Fields({ action, choose }: FieldsProps) {
  const [actionId, rateId, reasonId] = [useId(), useId(), useId()];
  return (
    <>
      <div className="field">
        <label htmlFor={actionId}>What to do</label>
        <select id={actionId} value={action} data-first="" onChange={(event) => choose(event.target.value as Action)}>
          {Object.entries(ACTIONS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {action === 'retry' && (
        <div className="field">
          <label htmlFor={rateId}>Calls a second, at most (optional)</label>
          <input id={rateId} name="per_second" type="number" min="0.1" max="1000" step="any" />
        </div>
      )}
      <div className="field">
        <label htmlFor={reasonId}>{action === 'retry' ? 'Why (optional)' : 'Why'}</label>
        <input id={reasonId} name="reason" maxLength={2000} required={action !== 'retry'} autoComplete="off" />
      </div>
    </>
  );
}

function bodyOf(action: Action, filter: BulkFilter, fields: FormData): BulkDeadLetters {
  const reason = textOf(fields, 'reason');
  const rate = action === 'retry' ? textOf(fields, 'per_second') : '';
  return { action, filter, ...(reason !== '' && { reason }), ...(rate !== '' && { per_second: Number(rate) }) };
}

function useDrain(done: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<DrainProgress>();
  const [stop] = useState(() => new AbortController());
  const work = useMutation({
    mutationFn: async (body: BulkDeadLetters) => {
      for await (const step of api.deadLetters.drain(body, stop.signal)) setProgress(step);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['dead-letters'] }),
    onSuccess: done,
  });
  return { work, progress, stop: () => stop.abort() };
}

interface DrainDialogProps {
  readonly filter: ListFilter;
  /** Sessions that were picked by hand; if there are any, only they are meant. */
  readonly picked: ReadonlySet<string>;
  readonly close: () => void;
  readonly done: () => void;
}

/** Acts on all that the filter picks, after they were counted, as fast as the vendors may be called. */
export function DrainDialog({ filter: listFilter, picked, close, done }: DrainDialogProps) {
  const api = useApi();
  const [action, setAction] = useState<Action>('retry');
  const { work, progress, stop } = useDrain(done);
  const filter = bulkFilterOf(listFilter, picked);
  const none = typeof filter === 'string';
  const count = useQuery({
    queryKey: ['dead-letters', 'count', filter],
    queryFn: () => api.deadLetters.bulk({ action: 'retry', filter: filter as BulkFilter, dry_run: true }),
    enabled: !none && progress === undefined,
  });
  const leave = (): void => {
    stop();
    close();
  };
  if (progress)
    return <DrainMeter action={ACTIONS[action]} progress={progress} work={work} stop={stop} close={leave} />;
  return (
    <FormDialog
      title="Act on many dead letters"
      action={`${ACTIONS[action]} ${count.data?.matched ?? ''}`}
      dangerous={action !== 'retry'}
      busy={work.isPending || !count.data?.matched}
      error={work.error}
      close={leave}
      submit={(fields) => work.mutate(bodyOf(action, filter as BulkFilter, fields))}
    >
      {none ? (
        <p className="cause">{filter}</p>
      ) : (
        <QueryView query={count}>
          {({ matched }) => (
            <p>
              <strong>{matched} open</strong> of {inWords(filter)}
            </p>
          )}
        </QueryView>
      )}
      <Fields action={action} choose={setAction} />
    </FormDialog>
  );
}
