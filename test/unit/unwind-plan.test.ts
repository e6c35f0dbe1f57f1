import { describe, expect, test } from 'vitest';
import { planUnwind, type PlannedEntry } from '@undolog/shared/domain/unwind-plan';

const entry = (more: Partial<PlannedEntry> = {}): PlannedEntry => ({
  sessionId: 's',
  effectId: 'e',
  undoId: 'u',
  stackPosition: 1,
  fnName: 'cancel',
  version: '1',
  outcome: 'committed',
  hasLookup: false,
  bound: true,
  confirming: false,
  tooLate: false,
  ...more,
});

describe('a plan', () => {
  test.each<[string, Partial<PlannedEntry>, string, string]>([
    ['calls for what is known to be there', {}, 'call', 'committed'],
    ['calls for what a lookup has found', { outcome: 'found', hasLookup: true }, 'call', 'found'],
    ['calls for what may be there, the safe default', { outcome: 'unknown' }, 'call', 'outcome_unknown'],
    ['looks first where it can', { outcome: 'unknown', hasLookup: true, bound: false }, 'lookup', 'outcome_unknown'],
    ['calls nothing without the result it needs', { outcome: 'unknown', bound: false }, 'skip', 'missing_result'],
    ['calls nothing more once the vendor said done', { confirming: true }, 'lookup', 'confirming'],
    ['calls nothing past the window of the vendor', { tooLate: true }, 'skip', 'undo_deadline_passed'],
    ['skips what nothing undoes', { fnName: null, version: null }, 'skip', 'irreversible'],
  ])('%s', (_, more, action, reason) => {
    expect(planUnwind([entry(more)]).steps).toMatchObject([{ action, reason }]);
  });

  test('names what can not be undone and what nobody knows', () => {
    const plan = planUnwind([
      entry({ effectId: 'a', outcome: 'unknown' }),
      entry({ effectId: 'b', fnName: null, version: null }),
      entry({ effectId: 'c' }),
    ]);
    expect([plan.unknown, plan.cannot_undo]).toEqual([['a'], ['b']]);
  });
});
