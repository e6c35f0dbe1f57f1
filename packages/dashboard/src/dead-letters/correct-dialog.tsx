import { useId, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { RawJson, type DeadLetter, type UndoEntry } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';
import { FormDialog, textOf } from '../parts/form-dialog';
import { QueryView } from '../parts/query-view';
import { ReasonField } from '../parts/reason-field';
import { useApi } from '../server/api';
import { writeExactly } from '../server/exact-json';
import { brokenThing } from './letter-words';
import { useAct } from './use-act';

const HIDDEN = '"[redacted]"';

/** What is wrong with the text, in words; undefined: it can be sent. */
function faultOf(text: string): string | undefined {
  if (text.includes(HIDDEN)) return 'A value is hidden on this page. Type the right one in place of "[redacted]".';
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

interface CorrectFormProps {
  readonly letter: DeadLetter;
  readonly entry: UndoEntry;
  readonly close: () => void;
}

/** Arguments that were not changed are not sent: only another version is asked for then. */
function CorrectForm({ letter, entry, close }: CorrectFormProps) {
  const { mutate, isPending, error } = useAct(letter);
  const before = writeExactly(entry.args);
  const [text, setText] = useState(before);
  const [version, setVersion] = useState(entry.version ?? '');
  const [argsId, versionId, faultId] = [useId(), useId(), useId()];
  const versions = useVersions(entry.fn_name);
  const fault = text === before ? undefined : faultOf(text);
  const submit = (fields: FormData): void => {
    if (fault !== undefined) return;
    const reason = textOf(fields, 'reason');
    const body = {
      ...(text !== before && { args: new RawJson(text) }),
      ...(version !== entry.version && { version }),
      ...(reason !== '' && { reason }),
    };
    mutate({ kind: 'retry', body }, { onSuccess: close });
  };
  return (
    <FormDialog
      title={`Correct ${brokenThing(letter)} and retry`}
      action="Retry with these"
      busy={isPending}
      error={error}
      close={close}
      submit={submit}
    >
      <p>The undo is replaced by a new one with a key of its own. What was registered is kept beside it.</p>
      <div className="field">
        <label htmlFor={argsId}>Arguments</label>
        <textarea
          id={argsId}
          rows={10}
          value={text}
          spellCheck={false}
          aria-invalid={fault !== undefined}
          aria-describedby={faultId}
          onChange={(event) => setText(event.target.value)}
        />
        <p id={faultId} className="fault">
          {fault}
        </p>
      </div>
      <div className="field">
        <label htmlFor={versionId}>Version of {visible(entry.fn_name ?? '')}</label>
        <select id={versionId} value={version} onChange={(event) => setVersion(event.target.value)}>
          {versions.map((one) => (
            <option key={one} value={one}>
              {visible(one)}
            </option>
          ))}
        </select>
      </div>
      <ReasonField label="Why (optional)" />
    </FormDialog>
  );
}

function useVersions(fnName: string | null): string[] {
  const api = useApi();
  const { data = [] } = useQuery({ queryKey: ['compensations', 'list'], queryFn: () => api.compensations.list() });
  return data.filter(({ fn_name }) => fn_name === fnName).map(({ version }) => version);
}

export function CorrectDialog({ letter, close }: { readonly letter: DeadLetter; readonly close: () => void }) {
  const api = useApi();
  const stack = useQuery({
    queryKey: ['session', letter.session_id, 'stack'],
    queryFn: () => api.sessions.stack(letter.session_id),
  });
  return (
    <QueryView query={stack}>
      {(entries) => {
        const entry = entries.find(({ undo_id: id }) => id === letter.undo_id);
        return entry && <CorrectForm letter={letter} entry={entry} close={close} />;
      }}
    </QueryView>
  );
}
