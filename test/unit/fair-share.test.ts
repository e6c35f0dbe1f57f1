import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shareFairly, slotsFor } from '@undolog/compensator/fair-share';
import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';

/** Every org of these tests calls one host, but for those that say otherwise. */
const ownHost = ({ org_id: org }: WakeUpPayload): Promise<string> => Promise.resolve(`${org}.example`);

const job = (org: string): WakeUpPayload => ({ org_id: org, session_id: 's', undo_id: 'u' });

describe('the share of one org', () => {
  let running: Record<string, number>;
  let finish: (() => void)[];
  const handle = async ({ org_id: org }: WakeUpPayload, seen: (host: string) => void): Promise<void> => {
    seen(`${org}.example`);
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

  test('is a quarter of what the worker takes while it calls one host, and no job of another org waits for it', async () => {
    const shared = shareFairly(3, handle, ownHost);
    expect(slotsFor(3)).toBe(12);
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
    const waitForFail = (payload: WakeUpPayload): Promise<void> => {
      order.push(payload.session_id);
      return new Promise((_resolve, reject) => (fail = reject));
    };
    const shared = shareFairly(1, waitForFail, ownHost);
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
    const shared = shareFairly(1, handle, ownHost);
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

  test('keeps a job waiting while slots are passed on, and sends it back when they no longer are', async () => {
    const shared = shareFairly(1, handle, ownHost);
    const sentBack: unknown[] = [];
    for (let n = 0; n < 8; n++) void shared(job('a')).catch((error: unknown) => sentBack.push(error));
    for (let n = 0; n < 3; n++) {
      await vi.advanceTimersByTimeAsync(200);
      expect(sentBack).toEqual([]);
      finish[n]!();
    }
    await vi.advanceTimersByTimeAsync(500);
    expect(sentBack).toHaveLength(4);
  });

  test('sends more jobs back for longer, so that looking at them again leaves time for others', async () => {
    const shared = shareFairly(2, handle, ownHost);
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

describe('the share of one host within its org', () => {
  let running: string[];
  let finish: Map<string, () => void>;
  let asked: string[];
  /** The host is the session's name up to its dash. */
  const hostIn = ({ session_id: id }: WakeUpPayload): string => id.split('-')[0]!;
  const handle = async (payload: WakeUpPayload, seen: (host: string) => void): Promise<void> => {
    running.push(payload.session_id);
    await Promise.resolve();
    seen(hostIn(payload));
    await new Promise<void>((resolve) => finish.set(payload.session_id, resolve));
    running.splice(running.indexOf(payload.session_id), 1);
  };
  const findHost = (payload: WakeUpPayload): Promise<string> => {
    asked.push(payload.session_id);
    return Promise.resolve(hostIn(payload));
  };
  const entry = (id: string): WakeUpPayload => ({ ...job('a'), session_id: id });
  beforeEach(() => {
    vi.useFakeTimers();
    running = [];
    finish = new Map();
    asked = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is half of the org’s: one that hangs leaves the other half to the others', async () => {
    const shared = shareFairly(2, handle, findHost);
    const later: unknown[] = [];
    const start = (id: string): void => void shared(entry(id)).catch((error: unknown) => later.push(error));
    for (const id of ['hangs-1', 'hangs-2', 'hangs-3', 'hangs-4']) start(id);
    await vi.advanceTimersByTimeAsync(300);
    expect([running, later.length]).toEqual([['hangs-1', 'hangs-2'], 2]);
    // Nobody knows of another host yet, so the first one waits as long as anybody.
    start('well-1');
    await vi.advanceTimersByTimeAsync(249);
    expect(running).not.toContain('well-1');
    await vi.advanceTimersByTimeAsync(1);
    expect(running).toEqual(['hangs-1', 'hangs-2', 'well-1']);
    // From then on its jobs need not wait at all.
    start('well-2');
    await vi.advanceTimersByTimeAsync(0);
    expect(running).toEqual(['hangs-1', 'hangs-2', 'well-1', 'well-2']);
    start('well-3');
    start('hangs-5');
    await vi.advanceTimersByTimeAsync(1);
    expect(running).toHaveLength(4);
    finish.get('well-1')!();
    await vi.advanceTimersByTimeAsync(1);
    expect(running).toEqual(['hangs-1', 'hangs-2', 'well-2', 'well-3']);
  });

  test('costs no question while its slots come free in time', async () => {
    const shared = shareFairly(1, handle, findHost);
    const jobs = ['one-1', 'one-2', 'one-3'].map((id) => shared(entry(id)));
    for (const id of ['one-1', 'one-2', 'one-3']) {
      await vi.advanceTimersByTimeAsync(100);
      expect(running).toEqual([id]);
      finish.get(id)!();
    }
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all(jobs);
    expect(asked).toEqual([]);
  });

  test('is never more, however many arrive before their hosts are known', async () => {
    const shared = shareFairly(3, handle, findHost);
    for (let n = 0; n < 20; n++) void shared(entry(`hangs-${n}`)).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1000);
    expect(running).toHaveLength(3);
  });
});
