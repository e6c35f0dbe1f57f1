import { useMutation, useQueryClient } from '@tanstack/react-query';
import { UndoLogError, type DeadLetter, type RawJson, type UndoLog } from '@undolog/client';
import { reasonOf } from '../parts/failure';
import { useApi } from '../server/api';
import { useTell } from '../shell/notices';

export type Act =
  | { readonly kind: 'retry'; readonly body: { reason?: string; args?: RawJson; version?: string } }
  | { readonly kind: 'skip'; readonly body: { reason: string } }
  | { readonly kind: 'resolve'; readonly body: { reason: string; evidence?: string } }
  | { readonly kind: 'confirm' };

const DONE: Readonly<Record<Act['kind'], string>> = {
  retry: 'It is tried again.',
  skip: 'It was skipped, and the rest is being undone.',
  resolve: 'The session was ended by hand.',
  confirm: "The vendor's record agrees: it is undone.",
};

/** Somebody, or the unwind itself, was faster. */
function wasOvertaken(error: Error): boolean {
  return error instanceof UndoLogError && ['dead_letter_changed', 'dead_letter_closed'].includes(error.code);
}

/** @returns whether what was asked for is so; only the vendor can say no. */
async function send({ deadLetters }: UndoLog, letter: DeadLetter, act: Act): Promise<boolean> {
  const { dead_letter_id: id, undo_id: undoId, version } = letter;
  const entry = undoId === null ? {} : { undo_id: undoId };
  switch (act.kind) {
    case 'retry':
      await deadLetters.retry(id, { ...entry, ...act.body }, { version });
      return true;
    case 'skip':
      await deadLetters.skip(id, { ...entry, ...act.body }, { version });
      return true;
    case 'resolve':
      await deadLetters.resolve(id, act.body, { version });
      return true;
    case 'confirm':
      return (await deadLetters.confirm(id, { version })).confirmed;
    default:
      return act satisfies never;
  }
}

/** Acts on a dead letter as it was shown: should it have changed since, nothing is done and that is said. */
export function useAct(letter: DeadLetter) {
  const api = useApi();
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: (act: Act) => send(api, letter, act),
    onSuccess(done, { kind }) {
      if (done) tell('good', DONE[kind]);
      else tell('unsure', "The vendor's record does not show it undone. Nothing was changed.");
    },
    onError(error, { kind }) {
      if (wasOvertaken(error)) tell('unsure', 'Somebody was faster: what you see now is how it stands.');
      else if (kind === 'confirm') tell('bad', reasonOf(error));
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['dead-letters'] });
      void queries.invalidateQueries({ queryKey: ['session', letter.session_id] });
    },
  });
}
