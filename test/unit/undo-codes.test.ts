import { expect, test } from 'vitest';
import { OUTCOME_ROWS, OUTCOMES } from '@undolog/shared/domain/outcomes';
import { UNDO_CODES } from '@undolog/shared/domain/undo-codes';
import type { OutcomeRow } from '@undolog/shared/domain/outcome-row';

const rows: OutcomeRow[] = Object.values(OUTCOME_ROWS);

test('every code that an entry can have stands in the table of outcomes, with its state', () => {
  const told = new Set(rows.map((row) => row.code));
  // The code of a parent's dead letter; none of its entries is broken.
  const missing = Object.keys(UNDO_CODES).filter((code) => !told.has(code as keyof typeof UNDO_CODES));
  expect(missing).toEqual(['child_halted']);
});

test('a row says how its end is known: a code where it is not done, a proof where it is, a reason where it is skipped', () => {
  for (const row of rows) {
    const { state, code, proof, reason } = row;
    const told = { code: code !== undefined, proof: proof !== undefined, reason: reason !== undefined };
    const [done, skipped] = [state === 'compensated', state === 'skipped'];
    expect(told, row.when).toEqual({ code: !done && !skipped, proof: done, reason: skipped });
  }
});

test('the page shows every row once', () => {
  const shown = Object.values<Readonly<Record<string, OutcomeRow>>>(OUTCOMES).flatMap((group) => Object.values(group));
  expect(shown).toEqual(rows);
});
