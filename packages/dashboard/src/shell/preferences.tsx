import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export const ZONES = ['local', 'utc'] as const;
export type Theme = (typeof THEMES)[number];
export type Zone = (typeof ZONES)[number];

interface Preferences {
  readonly theme: Theme;
  readonly zone: Zone;
  readonly setTheme: (theme: Theme) => void;
  readonly setZone: (zone: Zone) => void;
}

const Context = createContext<Preferences | undefined>(undefined);

/** A choice that the browser keeps. It is the reader's taste and holds nothing of the org. */
function useKept<T extends string>(name: string, choices: readonly T[]): [T, (choice: T) => void] {
  const [chosen, choose] = useState<T>(() => {
    const kept = localStorage.getItem(name);
    return choices.find((choice) => choice === kept) ?? choices[0]!;
  });
  const keep = useCallback(
    (choice: T): void => {
      localStorage.setItem(name, choice);
      choose(choice);
    },
    [name],
  );
  return [chosen, keep];
}

export function PreferencesProvider({ children }: { readonly children: ReactNode }) {
  const [theme, setTheme] = useKept('undolog.theme', THEMES);
  const [zone, setZone] = useKept('undolog.zone', ZONES);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const value = useMemo(() => ({ theme, zone, setTheme, setZone }), [theme, zone, setTheme, setZone]);
  return <Context value={value}>{children}</Context>;
}

export function usePreferences(): Preferences {
  const preferences = use(Context);
  if (!preferences) throw new Error('outside of PreferencesProvider');
  return preferences;
}
