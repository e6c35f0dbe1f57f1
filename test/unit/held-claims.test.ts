import { CLAIM_LEASE_MS, HeldClaims, type HeldClaim } from '@undolog/compensator/held-claims';
import { DatabaseUnavailable, type Database } from '@undolog/shared/store/database';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

interface Renewal {
  readonly orgs: string[];
  readonly undoIds: string[];
  readonly leaseMs: number;
}

/** Stands for Postgres: keeps what was renewed, and says what `answer` says. */
function database(answer: (renewal: Renewal) => string[]): { database: Database; renewals: Renewal[] } {
  const renewals: Renewal[] = [];
  const query = async ({ values }: { values: [string[], string[], number[], number] }) => {
    const renewal = { orgs: values[0], undoIds: values[1], leaseMs: values[3] };
    renewals.push(renewal);
    return answer(renewal).map((undoId) => ({ undo_id: undoId }));
  };
  return { database: { query } as unknown as Database, renewals };
}

const claim = (undoId: string, orgId = 'org-a'): HeldClaim => ({
  orgId,
  undoId,
  fence: 1,
  renewedAtMs: performance.now(),
});

describe('the claims in hand', () => {
  let claims: HeldClaims;
  const errors: Error[] = [];
  const hold = (postgres: Database): HeldClaims => (claims = new HeldClaims(postgres, (error) => errors.push(error)));

  beforeEach(() => {
    errors.length = 0;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });

  afterEach(() => {
    claims.stop();
    vi.useRealTimers();
  });

  test('are renewed one org at a time, long before their lease runs out, and no more once released', async () => {
    const { database: postgres, renewals } = database(({ undoIds }) => undoIds);
    hold(postgres);
    await vi.advanceTimersByTimeAsync(500);
    const [a1, b1] = [claim('a1'), claim('b1', 'org-b')];
    for (const one of [a1, claim('a2'), b1]) claims.hold(one);
    await vi.advanceTimersByTimeAsync(CLAIM_LEASE_MS / 2);
    expect(renewals.slice(0, 2)).toEqual([
      { orgs: ['org-a', 'org-a'], undoIds: ['a1', 'a2'], leaseMs: CLAIM_LEASE_MS },
      { orgs: ['org-b'], undoIds: ['b1'], leaseMs: CLAIM_LEASE_MS },
    ]);
    claims.release(a1);
    renewals.length = 0;
    await vi.advanceTimersByTimeAsync(CLAIM_LEASE_MS / 2);
    expect(renewals.flatMap(({ undoIds }) => undoIds)).not.toContain('a1');
    expect(renewals.flatMap(({ undoIds }) => undoIds)).toContain('b1');
  });

  test('are renewed one by one when the statement that they share fails', async () => {
    const { database: postgres, renewals } = database(({ undoIds }) => {
      if (undoIds.includes('bad')) throw new Error('deadlock detected');
      return undoIds;
    });
    hold(postgres);
    for (const name of ['bad', 'good', 'fine']) claims.hold(claim(name));
    await vi.advanceTimersByTimeAsync(2100);
    expect(renewals.map(({ undoIds }) => undoIds)).toEqual([['bad', 'good', 'fine'], ['bad'], ['good'], ['fine']]);
    expect(errors.map(({ message }) => message)).toEqual(['deadlock detected']);
  });

  test('are not asked for one by one when Postgres is away', async () => {
    const { database: postgres, renewals } = database(() => {
      throw new DatabaseUnavailable('away');
    });
    hold(postgres);
    for (const name of ['one', 'two']) claims.hold(claim(name));
    await vi.advanceTimersByTimeAsync(2100);
    expect(renewals).toHaveLength(1);
    expect(errors).toHaveLength(1);
  });

  test('are trusted while young; later Postgres says whether they are still ours', async () => {
    const { database: postgres, renewals } = database(({ undoIds }) => undoIds.filter((undoId) => undoId !== 'taken'));
    hold(postgres);
    const [kept, taken] = [claim('kept'), claim('taken')];
    expect(await claims.stillHeld(taken)).toBe(true);
    expect(renewals).toEqual([]);
    // As after SIGSTOP: time has passed and no timer has run.
    for (const one of [kept, taken]) one.renewedAtMs -= CLAIM_LEASE_MS;
    expect(await claims.stillHeld(kept)).toBe(true);
    expect(await claims.stillHeld(taken)).toBe(false);
    expect(renewals.map(({ undoIds }) => undoIds)).toEqual([['kept'], ['taken']]);
    expect(await claims.stillHeld(kept), 'what was just renewed is young again').toBe(true);
    expect(renewals).toHaveLength(2);
  });
});
