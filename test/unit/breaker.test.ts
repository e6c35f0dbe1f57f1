import { describe, expect, test } from 'vitest';
import {
  BREAKER_WINDOW_MS,
  closedBreaker,
  countAnswers,
  stepBreaker,
  type Breaker,
  type BreakerEvent,
  type Pass,
} from '@undolog/shared/domain/breaker';

const RULES = { minSessions: 5 };
const ASK: BreakerEvent = { kind: 'ask', leaseMs: 15_000 };
const HOUR_MS = 3_600_000;

/** A breaker and a clock that a test moves. */
class Scene {
  breaker: Breaker = closedBreaker(0);
  nowMs = 0;

  step(event: BreakerEvent): Pass {
    const { breaker, pass } = stepBreaker(this.breaker, event, this.nowMs, RULES);
    this.breaker = breaker;
    return pass;
  }

  fail(sessionId: string, probe = false): Pass {
    return this.step({ kind: 'failed', sessionId, probe });
  }

  /** Two failures of each of this many sessions; the last pass. */
  outage(sessions = 5): Pass {
    const ids = Array.from({ length: sessions }, (_, n) => `s-${n}`);
    return [...ids, ...ids].map((id) => this.fail(id)).at(-1)!;
  }
}

describe('a breaker', () => {
  test('stays closed for a single session, however often it fails', () => {
    const scene = new Scene();
    for (let n = 0; n < 100; n++) expect(scene.fail('alone')).toEqual({ kind: 'go' });
    expect(scene.breaker.state).toBe('closed');
  });

  test('opens at the tenth failure of five sessions, and not before', () => {
    const scene = new Scene();
    const passes = ['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd', 'e'].map((id) => scene.fail(id));
    expect(passes.map(({ kind }) => kind)).toEqual([...Array.from({ length: 9 }, () => 'go'), 'wait']);
    expect(scene.breaker).toMatchObject({ state: 'open', sinceMs: 0, retryAtMs: 1000 });
  });

  test('stays closed while the host answers more tries than it fails', () => {
    const scene = new Scene();
    scene.breaker = countAnswers(scene.breaker, 11, 0);
    expect(scene.outage()).toEqual({ kind: 'go' });
    expect(scene.fail('a')).toMatchObject({ kind: 'wait' });
  });

  test('forgets what lies further back than its window', () => {
    const scene = new Scene();
    scene.breaker = countAnswers(scene.breaker, 1000, 0);
    scene.outage(4);
    scene.nowMs = BREAKER_WINDOW_MS + 1;
    expect(scene.fail('s-9')).toEqual({ kind: 'go' });
    expect(scene.breaker).toMatchObject({ failures: 1, answers: 0, failingSessions: ['s-9'] });
    expect(scene.outage()).toMatchObject({ kind: 'wait' });
  });

  test('lets one entry through when its time has come, and the others look again soon', () => {
    const scene = new Scene();
    scene.outage();
    scene.nowMs = 999;
    expect(scene.step(ASK).kind).toBe('wait');
    scene.nowMs = 1000;
    expect([scene.step(ASK).kind, scene.breaker.state, scene.breaker.retryAtMs]).toEqual([
      'probe',
      'half_open',
      16_000,
    ]);
    expect(scene.step(ASK)).toEqual({ kind: 'wait', waitMs: 1000 });
    // That entry was never heard of again: the next one has its turn.
    scene.nowMs = 16_000;
    expect(scene.step(ASK).kind).toBe('probe');
  });

  test('waits twice as long after each entry that failed, at most a minute', () => {
    const scene = new Scene();
    scene.outage();
    const waits = Array.from({ length: 8 }, () => {
      scene.nowMs = scene.breaker.retryAtMs!;
      expect(scene.step(ASK).kind).toBe('probe');
      scene.fail('s-0', true);
      return scene.breaker.retryAtMs! - scene.nowMs;
    });
    expect(waits).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(scene.breaker.sinceMs).toBe(0);
  });

  test('closes when the entry that was let through is answered, and begins to count anew', () => {
    const scene = new Scene();
    scene.outage();
    scene.nowMs = 1000;
    scene.step(ASK);
    scene.nowMs = 1200;
    expect(scene.step({ kind: 'answered' })).toEqual({ kind: 'go' });
    expect(scene.breaker).toMatchObject({ state: 'closed', sinceMs: 1200, retryAtMs: null, failures: 0 });
    expect(scene.step(ASK)).toEqual({ kind: 'go' });
  });

  test('lets another entry through at once when the first made no call', () => {
    const scene = new Scene();
    scene.outage();
    scene.nowMs = 1000;
    scene.step(ASK);
    scene.step({ kind: 'not_called' });
    expect(scene.step(ASK).kind).toBe('probe');
  });

  test('has those that wait come back one after the other, ten a second', () => {
    const scene = new Scene();
    scene.outage();
    const waits = Array.from({ length: 21 }, () => scene.step(ASK)).map((pass) =>
      pass.kind === 'wait' ? pass.waitMs : 0,
    );
    expect(waits.slice(0, 3)).toEqual([1100, 1200, 1300]);
    expect(waits.at(-1)! - waits[0]!).toBe(2000);
  });

  test('parks nobody any more after a day, and still closes at the first answer', () => {
    const scene = new Scene();
    scene.outage();
    scene.nowMs = 24 * HOUR_MS - 1;
    expect(scene.fail('s-0')).toMatchObject({ kind: 'wait' });
    scene.nowMs = 24 * HOUR_MS;
    expect(scene.step(ASK)).toEqual({ kind: 'probe' });
    expect(scene.fail('s-0', true)).toEqual({ kind: 'go' });
    expect(scene.step(ASK)).toEqual({ kind: 'probe' });
    scene.step({ kind: 'answered' });
    expect(scene.breaker.state).toBe('closed');
  });
});
