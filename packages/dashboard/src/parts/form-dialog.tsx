import { type ReactNode, type SubmitEvent } from 'react';
import { Dialog } from './dialog';
import { reasonOf } from './failure';

interface FormDialogProps {
  readonly title: string;
  /** What the button says: a verb. */
  readonly action: string;
  readonly dangerous?: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly submit: (fields: FormData) => void;
  readonly close: () => void;
  readonly children?: ReactNode;
}

/** Says what will happen, asks for what is needed, and stays open with the reason when it could not be done. */
export function FormDialog({ title, action, dangerous, busy, error, submit, close, children }: FormDialogProps) {
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (!busy) submit(new FormData(event.currentTarget));
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={onSubmit}>
        {children}
        <p role="alert" className="fault">
          {error && reasonOf(error)}
        </p>
        <footer>
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" className={dangerous ? 'danger' : 'primary'} disabled={busy}>
            {busy ? 'Sending…' : action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** An optional text is left out when it is empty. */
export function textOf(fields: FormData, name: string): string {
  return (fields.get(name) as string).trim();
}
