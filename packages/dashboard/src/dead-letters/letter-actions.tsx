import { useState } from 'react';
import type { DeadLetter } from '@undolog/client';
import { useShortcuts } from '../shell/shortcuts';
import { ActionDialog, type Ask, type Asked } from './action-dialogs';
import { useAct } from './use-act';

const ASKS: readonly { readonly ask: Ask; readonly key: string; readonly name: string }[] = [
  { ask: 'retry', key: 'r', name: 'Retry' },
  { ask: 'correct', key: 'e', name: 'Correct and retry' },
  { ask: 'skip', key: 's', name: 'Skip' },
  { ask: 'resolve', key: 'x', name: 'Resolve' },
];

/** What can be done about a dead letter while it is open, by button and by key. A dialog stays should it be closed meanwhile. */
export function LetterActions({ letter }: { readonly letter: DeadLetter }) {
  const [asked, setAsked] = useState<Asked>();
  const { mutate, isPending } = useAct(letter);
  const open = letter.state === 'open';
  const askVendor = (): void => mutate({ kind: 'confirm' });
  // A halted child is seen to in its own session; there is no call of this one to correct or to ask about.
  const asks = letter.undo_id === null ? ASKS.filter((one) => one.ask !== 'correct') : ASKS;
  const ask = (about: Ask): void => setAsked({ ask: about, letter });
  const keys = Object.fromEntries(asks.map((one) => [one.key, () => ask(one.ask)]));
  useShortcuts(open ? { ...keys, a: askVendor } : {});
  return (
    <>
      {open && (
        <div className="actions" role="group" aria-label="What to do">
          {asks.map((one) => (
            <button
              key={one.ask}
              type="button"
              className={one.ask === 'retry' ? 'primary' : ''}
              onClick={() => ask(one.ask)}
            >
              {one.name} <kbd>{one.key}</kbd>
            </button>
          ))}
          <button type="button" onClick={askVendor} disabled={isPending}>
            {isPending ? 'Asking…' : 'Ask the vendor'} <kbd>a</kbd>
          </button>
        </div>
      )}
      {asked && <ActionDialog {...asked} close={() => setAsked(undefined)} />}
    </>
  );
}
