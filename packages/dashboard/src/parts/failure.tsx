import { UndoLogError } from '@undolog/client';

export function reasonOf(error: Error): string {
  if (!(error instanceof UndoLogError)) return error.message;
  const { message, code, requestId } = error;
  return `${message} (${code}${requestId === undefined ? '' : `, request ${requestId}`})`;
}

export function Failure({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>This could not be read: {reasonOf(error)}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Waiting() {
  return (
    <p className="waiting" role="status">
      Reading…
    </p>
  );
}
