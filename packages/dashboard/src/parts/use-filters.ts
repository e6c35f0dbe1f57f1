import { useSearchParams } from 'wouter';

export type Filters<K extends string> = Readonly<Partial<Record<K, string>>>;

/** Filters that live in the address, so that a list can be sent to a colleague and Back leads back. */
export function useFilters<K extends string>(names: readonly K[]): [Filters<K>, (changed: Filters<K>) => void] {
  const [params, setParams] = useSearchParams();
  const given = names.flatMap((name) => {
    const value = params.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  const change = (changed: Filters<K>): void =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | undefined>(changed)) {
          if (value === undefined || value === '') after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  return [Object.fromEntries(given) as Filters<K>, change];
}
