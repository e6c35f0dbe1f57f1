import { createContext, use, useCallback, useState, type ReactNode } from 'react';
import * as Toast from '@radix-ui/react-toast';

type Tone = 'good' | 'bad' | 'unsure';

interface Notice {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
}

type Tell = (tone: Tone, text: string) => void;

const Context = createContext<Tell | undefined>(undefined);
const MAX_SHOWN = 3;
const SHOWN_MS = 8_000;
/** What went wrong stays until somebody has had time to read it. */
const FAULT_SHOWN_MS = 30_000;

/** What came of an action, said once, aloud to screen readers as well. */
export function NoticesProvider({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const tell = useCallback<Tell>(
    (tone, text) =>
      setNotices((before) => [...before.slice(1 - MAX_SHOWN), { id: (before.at(-1)?.id ?? 0) + 1, tone, text }]),
    [],
  );
  const close = (id: number): void => setNotices((before) => before.filter((notice) => notice.id !== id));
  return (
    <Context value={tell}>
      <Toast.Provider label="Notice">
        {children}
        {notices.map(({ id, tone, text }) => (
          <Toast.Root
            key={id}
            className={`notice ${tone}`}
            duration={tone === 'bad' ? FAULT_SHOWN_MS : SHOWN_MS}
            onOpenChange={(open) => !open && close(id)}
          >
            <Toast.Description>{text}</Toast.Description>
            <Toast.Close className="quiet" aria-label="Close">
              ×
            </Toast.Close>
          </Toast.Root>
        ))}
        <Toast.Viewport className="notices" />
      </Toast.Provider>
    </Context>
  );
}

export function useTell(): Tell {
  const tell = use(Context);
  if (!tell) throw new Error('outside of NoticesProvider');
  return tell;
}
