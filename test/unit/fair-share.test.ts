import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shareFairly, slotsFor } from '@undolog/compensator/fair-share';
import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';

const job = (org: string): WakeUpPayload => ({ org_id: org, session_id: 's', undo_id: 'u' });

describe('the share of one org', () => {
  let running: Record<string, number>;
  let finish: (() => void)[];
  const handle = async ({ org_id: org }: WakeUpPayload): Promise<void> => {
    running[org] = (running[org] ?? 0) + 1;
    await new Promise<void>((resolve) => finish.push(resolve));
    running[org]--;
  };
  beforeEach(() => {
    vi.useFakeTimers();
    running = {};
    finish = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is half of what the worker takes, and no job of another org waits for it', async () => {
    const shared = shareFairly(3, handle);
    expect(slotsFor(3)).toBe(6);
    const jobs = ['a', 'a', 'a', 'a', 'b'].map((org) => shared(job(org)).catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(0);
    expect(running).toEqual({ a: 3, b: 1 });
    for (const end of finish) end();
    await vi.advanceTimersByTimeAsync(0);
    expect(running).toEqual({ a: 1, b: 0 });
    finish.at(-1)!();
    expect(await Promise.all(jobs)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  test('passes a slot on to the job that has waited longest, also after a failure', async () => {
    const order: string[] = [];
    let fail = (_error: Error): void => undefined;
    const shared = shareFairly(1, (payload) => {
      order.push(payload.session_id);
      return new Promise((_resolve, reject) => (fail = reject));
    });
    const jobs = ['1', '2', '3'].map((id) =>
      shared({ ...job('a'), session_id: id }).catch((error: Error) => error.message),
    );
    for (const expected of [['1'], ['1', '2'], ['1', '2', '3']]) {
      await vi.advanceTimersByTimeAsync(1);
      expect(order).toEqual(expected);
      fail(new Error('x'));
    }
    expect(await Promise.all(jobs)).toEqual(['x', 'x', 'x']);
  });

  test('sends a job back to the queue that no slot came free for, and forgets it', async () => {
    const shared = shareFairly(1, handle);
    const first = shared(job('a'));
    const second = shared(job('a')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await second).toBeInstanceOf(WakeAgain);
    finish[0]!();
    await first;
    // The slot is free for the next one, not kept for the one that left.
    const third = shared(job('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(running).toEqual({ a: 1 });
    finish[1]!();
    await third;
  });

  test('sends more jobs back for longer, so that looking at them again leaves time for others', async () => {
    const shared = shareFairly(2, handle);
    const waits: unknown[] = [];
    for (let n = 0; n < 22; n++) {
      void shared(job('a')).catch((error: unknown) => waits.push((error as WakeAgain).waitMs));
    }
    await vi.advanceTimersByTimeAsync(260);
    expect(waits).toHaveLength(20);
    expect(waits.slice(0, 3)).toEqual([500, 500, 750]);
    // 20 jobs in 5 s are 4 a second; two spare slots with 250 ms each could look at 8.
    expect(waits.at(-1)).toBe(5000);
    await vi.advanceTimersByTimeAsync(5000);
    void shared(job('a')).catch((error: unknown) => waits.push((error as WakeAgain).waitMs));
    await vi.advanceTimersByTimeAsync(260);
    expect(waits.at(-1)).toBe(500);
  });
});
