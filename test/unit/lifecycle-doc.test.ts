import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  EFFECT_STATES,
  EFFECT_TRANSITIONS,
  SESSION_STATES,
  SESSION_TRANSITIONS,
  UNDO_STATES,
  UNDO_TRANSITIONS,
  type TransitionTable,
} from '@undolog/shared/domain/states';

const PAGE = fileURLToPath(new URL('../../docs/lifecycle.md', import.meta.url));

/** The cells of every row of the tables below a heading whose first column has this title. */
function rowsOf(page: string, heading: string, firstColumn: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/lifecycle.md has no section ${heading}`);
  return section.split(/\n(?!\|)/).flatMap((block) => {
    const lines = block.split('\n').filter((line) => line.startsWith('|'));
    const [head, , ...rows] = lines.map((line) => line.split('|').slice(1, -1));
    const cells = rows.map((row) => row.map((cell) => cell.trim()));
    return head?.[0]?.trim() === firstColumn ? cells : [];
  });
}

/** `from → to` of each move, as the code has them. */
function movesOf<S extends string>(table: TransitionTable<S>): string[] {
  return Object.entries<readonly S[]>(table).flatMap(([from, next]) => next.map((to) => `\`${from}\` → \`${to}\``));
}

describe.each([
  ['Session', SESSION_STATES, movesOf(SESSION_TRANSITIONS)],
  ['Effect', EFFECT_STATES, movesOf(EFFECT_TRANSITIONS)],
  ['Undo entry', UNDO_STATES, movesOf(UNDO_TRANSITIONS)],
] as const)('docs/lifecycle.md, %s', (heading, states, moves) => {
  test('names every state of the code and no other, each with its meaning', async () => {
    const rows = rowsOf(await readFile(PAGE, 'utf8'), heading, 'state');
    expect(rows.map(([state]) => state)).toEqual(states.map((state) => `\`${state}\``));
    for (const [state, meaning] of rows) expect(meaning, `meaning of ${state}`).not.toBe('');
  });

  test('lists every move that the code allows and no other, each with its occasion', async () => {
    const rows = rowsOf(await readFile(PAGE, 'utf8'), heading, 'from');
    expect(rows.map(([from, to]) => `${from} → ${to}`).toSorted()).toEqual(moves.toSorted());
    for (const [from, to, when] of rows) expect(when, `occasion of ${from} → ${to}`).not.toBe('');
  });
});
