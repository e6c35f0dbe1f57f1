import { useEffect, useId, useRef, type ReactNode } from 'react';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** What is to be filled in; if there is nothing, the button that does it. */
function firstOf(dialog: HTMLDialogElement): HTMLElement | null {
  return (
    dialog.querySelector<HTMLElement>('[required], textarea, [data-first]') ??
    dialog.querySelector('footer button:last-child')
  );
}

/** The browser's own modal dialog: it keeps the focus, goes with Esc, and gives the focus back. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current!;
    shown.showModal();
    firstOf(shown)?.focus();
    return () => {
      shown.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const closeByBackdrop = (target: EventTarget): void => {
    if (target === dialog.current) close();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => closeByBackdrop(event.target)}
    >
      <div className="dialog">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** The end of a dialog that only shows something. */
export function CloseFooter({ close }: { readonly close: () => void }) {
  return (
    <footer>
      <button type="button" onClick={close}>
        Close
      </button>
    </footer>
  );
}
