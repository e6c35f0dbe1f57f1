import { explain } from '@undolog/client/explain';
import { UNDO_CODES } from '@undolog/shared/domain/undo-codes';
import { expect, test } from 'vitest';

test('what a person is told of a code never says that nothing happened where it may have', () => {
  expect(explain('http_422')).toContain('nothing was undone');
  for (const code of ['http_500', 'http_503', 'http_200', 'outcome_unknown', 'not_confirmed', 'key_expired']) {
    expect(explain(code), code).not.toContain('nothing was undone');
  }
  expect(explain('http_503')).toContain('ask first');
});

test('every code of an undo is put into words', () => {
  expect(Object.keys(UNDO_CODES).filter((code) => explain(code) === code)).toEqual([]);
});
