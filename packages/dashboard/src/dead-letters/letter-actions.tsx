import { useState } from 'react';
import type { DeadLetter } from '@undolog/client';
import { useShortcuts } from '../shell/shortcuts';
import { ActionDialog, type Ask } from './action-dialogs';
import { useAct } from './use-act';

const ASKS: readonly { readonly ask: Ask; readonly key: string; readonly name: string }[] = [
  { ask: 'retry', key: 'r', name: 'Retry' },
  { ask: 'correct', key: 'e', name: 'Correct and retry' },
  { ask: 'skip', key: 's', name: 'Skip' },
  { ask: 'resolve', key: 'x', name: 'Resolve' },
];

/** What can be done about an open dead letter, by button and by key. */
export function LetterActions({ letter }: { readonly letter: DeadLetter }) {
  const [asked, ask] = useState<Ask>();
  const { mutate, isPending } = useAct(letter);
  const askVendor = (): void => mutate({ kind: 'confirm' });
  // A halted child is seen to in its own session; there is no call of this one to correct or to ask about.
  const asks = letter.undo_id === null ? ASKS.filter((one) => one.ask !== 'correct') : ASKS;
  useShortcuts({ ...Object.fromEntries(asks.map((one) => [one.key, () => ask(one.ask)])), a: askVendor });
  return (
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
      {asked && <ActionDialog ask={asked} letter={letter} close={() => ask(undefined)} />}
    </div>
  );
}
