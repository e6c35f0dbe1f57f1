import { groupBy, type Evidence } from './evidence.js';

/**
 * How long an entry waited for its next try after the vendor had wanted to say "done" and nobody was there any more to
 * hear it. Under fire the next worker may be lost as well, before it calls.
 */
export function nextTriesMs({ calls }: Evidence): number[] {
  const byKey = groupBy(
    calls.filter(({ kind }) => kind === 'undo'),
    ({ key }) => key,
  );
  return [...byKey.values()].flatMap((tries) =>
    tries.slice(1).flatMap(({ atMs }, index) => {
      const { closed, decided } = tries[index]!;
      return closed && !closed.delivered && decided?.says === 'done' ? [Math.max(0, atMs - closed.atMs)] : [];
    }),
  );
}
