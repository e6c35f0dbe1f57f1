import { useRef } from 'react';
import type { DeadLetter, Session, UndoEntry } from '@undolog/client';
import { useShortcuts } from '../shell/shortcuts';
import { cursorOf } from './cursor';
import { StackRow } from './stack-row';

interface StackProps {
  readonly entries: readonly UndoEntry[];
  readonly session: Session;
  readonly letter: DeadLetter | undefined;
}

/** Effects beside their undos, the last effect first, as they are undone. j and k go from row to row. */
export function Stack({ entries, session, letter }: StackProps) {
  const list = useRef<HTMLOListElement>(null);
  const step = (by: number): void => {
    const summaries = [...(list.current?.querySelectorAll<HTMLElement>('.row > details > summary') ?? [])];
    const at = summaries.findIndex((summary) => summary.closest('.row')?.contains(document.activeElement));
    const next = summaries[Math.min(Math.max(at + by, 0), summaries.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  const cursor = cursorOf(entries, session, letter);
  return (
    <section aria-label="Stack">
      <div className="stack-heads" aria-hidden="true">
        <h2>What the agent did</h2>
        <h2>How it is undone</h2>
      </div>
      {entries.length === 0 && <p className="hint">It has registered nothing yet.</p>}
      <ol className="stack" ref={list}>
        {entries.map((entry) => (
          <StackRow
            key={entry.undo_id}
            entry={entry}
            current={entry.undo_id === cursor}
            halted={session.state === 'halted'}
          />
        ))}
      </ol>
    </section>
  );
}
