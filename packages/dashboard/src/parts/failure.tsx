import { UndoLogError } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';

export function reasonOf(error: Error): string {
  if (!(error instanceof UndoLogError)) return visible(error.message);
  const { message, code, requestId } = error;
  return `${visible(message)} (${code}${requestId === undefined ? '' : `, request ${requestId}`})`;
}

export function Failure({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>This could not be shown: {reasonOf(error)}</p>
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
