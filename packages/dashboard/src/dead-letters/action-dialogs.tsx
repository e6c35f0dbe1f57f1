import type { DeadLetter } from '@undolog/client';
import { explain } from '@undolog/client/explain';
import { FormDialog, textOf } from '../parts/form-dialog';
import { ReasonField } from '../parts/reason-field';
import { CorrectDialog } from './correct-dialog';
import { brokenThing, lastTry } from './letter-words';
import { useAct } from './use-act';

export type Ask = 'retry' | 'correct' | 'skip' | 'resolve';

export interface AskProps {
  /** As it was when the person decided: an action never falls upon what came of it since. */
  readonly letter: DeadLetter;
  readonly close: () => void;
}

export type Asked = Pick<AskProps, 'letter'> & { readonly ask: Ask };

const optional = (name: string, value: string): Record<string, string> => (value === '' ? {} : { [name]: value });

function BehindIt({ letter: { not_undone: waiting } }: { readonly letter: DeadLetter }) {
  const count = waiting.length;
  if (count === 0) return <>Nothing waits behind it.</>;
  return (
    <>
      {count} {count === 1 ? 'undo waits' : 'undos wait'} behind it.
    </>
  );
}

function RetryDialog({ letter, close }: AskProps) {
  const { mutate, isPending, error } = useAct(letter);
  return (
    <FormDialog
      title={`Retry ${brokenThing(letter)}`}
      action="Retry"
      busy={isPending}
      error={error}
      close={close}
      submit={(fields) =>
        mutate({ kind: 'retry', body: optional('reason', textOf(fields, 'reason')) }, { onSuccess: close })
      }
    >
      <p>
        It is called again with the same arguments, under the same key, with a fresh budget of tries.{' '}
        <BehindIt letter={letter} />
      </p>
      <p className="cause">
        {lastTry(letter)}: {explain(letter.code)}.
      </p>
      <ReasonField label="Why (optional)" />
    </FormDialog>
  );
}

function SkipDialog({ letter, close }: AskProps) {
  const { mutate, isPending, error } = useAct(letter);
  return (
    <FormDialog
      title={`Skip ${brokenThing(letter)}`}
      action="Skip it"
      dangerous
      busy={isPending}
      error={error}
      close={close}
      submit={(fields) => mutate({ kind: 'skip', body: { reason: textOf(fields, 'reason') } }, { onSuccess: close })}
    >
      <p>
        What it would have undone is left standing at the vendor; then the unwind goes on. <BehindIt letter={letter} />
      </p>
      <ReasonField label="Why it may stand" required />
    </FormDialog>
  );
}

function ResolveDialog({ letter, close }: AskProps) {
  const { mutate, isPending, error } = useAct(letter);
  return (
    <FormDialog
      title="Resolve by hand"
      action="Resolve"
      dangerous
      busy={isPending}
      error={error}
      close={close}
      submit={(fields) => {
        const evidence = optional('evidence', textOf(fields, 'evidence'));
        mutate({ kind: 'resolve', body: { reason: textOf(fields, 'reason'), ...evidence } }, { onSuccess: close });
      }}
    >
      <p>The session ends here and nothing more is called. Everything that is not undone by now is yours to see to.</p>
      <ReasonField label="What you did" required />
      <div className="field">
        <label htmlFor="evidence">Where it can be seen (optional)</label>
        <input id="evidence" name="evidence" type="text" autoComplete="off" />
      </div>
    </FormDialog>
  );
}

const DIALOGS = { retry: RetryDialog, correct: CorrectDialog, skip: SkipDialog, resolve: ResolveDialog } as const;

/** The dialog that asks what is needed for an action. */
export function ActionDialog({ ask, ...props }: AskProps & Asked) {
  const Asked = DIALOGS[ask];
  return <Asked {...props} />;
}
