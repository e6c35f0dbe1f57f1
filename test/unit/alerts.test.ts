import { describe, expect, test } from 'vitest';
import { judgeDelivery } from '@undolog/shared/domain/alerts';

describe('an answer to an alert', () => {
  test('of 2xx is delivered, of 410 the last, and anything else is tried again, later each time', () => {
    expect(judgeDelivery(204, 1, 0)).toEqual({ kind: 'delivered' });
    expect(judgeDelivery(410, 1, 0)).toEqual({ kind: 'given_up', because: 'gone' });
    for (const status of [undefined, 302, 400, 404, 429, 500]) expect(judgeDelivery(status, 1, 0).kind).toBe('retry');
    const waits = Array.from({ length: 9 }, (_, n) => judgeDelivery(500, n + 1, 0)).map((one) =>
      one.kind === 'retry' ? one.delayMs : 0,
    );
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    const days = waits.reduce((sum, ms) => sum + ms) / 86_400_000;
    expect(days).toBeGreaterThan(3);
    expect(days).toBeLessThan(3.5);
  });

  test('that has failed for three days disables its webhook', () => {
    expect(judgeDelivery(500, 10, 0)).toEqual({ kind: 'given_up', because: 'failing' });
  });
});
