import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CLAIM_LEASE_MS, HeldClaims, type HeldClaim } from '@undolog/compensator/held-claims';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import type { RenewClaim, RenewResult } from '@undolog/shared/store/renew-claim';

type Commits = Pick<GroupCommit, 'submit'>;

/** Stands for Postgres: keeps what was renewed, and says what `answer` says. */
function postgres(answer: (undoId: string) => RenewResult): { commits: Commits; renewed: string[] } {
  const renewed: string[] = [];
  const submit = (_operation: unknown, orgId: string, { undoId, leaseMs }: RenewClaim): Promise<RenewResult> => {
    expect(leaseMs).toBe(CLAIM_LEASE_MS);
    renewed.push(`${orgId} ${undoId}`);
    return Promise.resolve().then(() => answer(undoId));
  };
  return { commits: { submit } as unknown as Commits, renewed };
}

const claim = (undoId: string): HeldClaim => ({
  orgId: 'org',
  sessionId: `session of ${undoId}`,
  undoId,
  fence: 1,
  renewedAtMs: performance.now(),
});

describe('the claims in hand', () => {
  let claims: HeldClaims;
  const errors: Error[] = [];

  beforeEach(() => {
    errors.length = 0;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });

  afterEach(() => {
    claims.stop();
    vi.useRealTimers();
  });

  const hold = (commits: Commits): HeldClaims => (claims = new HeldClaims(commits, (error) => errors.push(error)));

  test('are renewed long before their lease runs out, and no more once released', async () => {
    const { commits, renewed } = postgres(() => 'held');
    hold(commits);
    await vi.advanceTimersByTimeAsync(500);
    const [first, second] = [claim('first'), claim('second')];
    for (const one of [first, second]) claims.hold(one);
    await vi.advanceTimersByTimeAsync(CLAIM_LEASE_MS / 2);
    expect(renewed.slice(0, 2)).toEqual(['org first', 'org second']);
    claims.release(first);
    renewed.length = 0;
    await vi.advanceTimersByTimeAsync(CLAIM_LEASE_MS / 2);
    expect(new Set(renewed)).toEqual(new Set(['org second']));
  });

  test('that cannot be renewed are told of, and the others are renewed all the same', async () => {
    const { commits, renewed } = postgres((undoId) => {
      if (undoId === 'bad') throw new Error('deadlock detected');
      return 'held';
    });
    hold(commits);
    for (const name of ['bad', 'good']) claims.hold(claim(name));
    await vi.advanceTimersByTimeAsync(CLAIM_LEASE_MS / 4 + 100);
    expect(renewed).toEqual(['org bad', 'org good']);
    expect(errors.map(({ message }) => message)).toEqual(['deadlock detected']);
  });

  test('are trusted while young; later Postgres says whether they are still ours', async () => {
    const { commits, renewed } = postgres((undoId) => (undoId === 'taken' ? 'lost' : 'held'));
    hold(commits);
    const [kept, taken] = [claim('kept'), claim('taken')];
    expect(await claims.stillHeld(taken)).toBe(true);
    expect(renewed).toEqual([]);
    // As after SIGSTOP: time has passed and no timer has run.
    for (const one of [kept, taken]) one.renewedAtMs -= CLAIM_LEASE_MS;
    expect(await claims.stillHeld(kept)).toBe(true);
    expect(await claims.stillHeld(taken)).toBe(false);
    expect(renewed).toEqual(['org kept', 'org taken']);
    expect(await claims.stillHeld(kept), 'what was just renewed is young again').toBe(true);
    expect(renewed).toHaveLength(2);
  });
});
