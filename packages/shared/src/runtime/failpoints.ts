import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { FAILPOINTS, reachUnarmed, type Failpoint, type Reach } from '../domain/failpoints.js';

/**
 * What happens when a place is reached for the `at`-th time. `freeze`: SIGSTOP, until somebody continues the process.
 * `block`: nothing else runs for so long.
 */
export interface ArmedFailpoint {
  readonly point: Failpoint;
  readonly action: 'kill' | 'freeze' | 'throw' | 'block';
  readonly blockMs: number;
  readonly at: number;
}

const ONE = /^(\w+)=(kill|freeze|throw|block:(\d{1,5}))@(\d{1,7})$/;

/** `before_post=kill@3,after_commit=block:7000@40`. @returns undefined for a text that says anything else. */
export function parseFailpoints(text: string): readonly ArmedFailpoint[] | undefined {
  const armed = text.split(',').map((part): ArmedFailpoint | undefined => {
    const [, name, action, blockMs, at] = ONE.exec(part) ?? [];
    const point = FAILPOINTS.find((known) => known === name);
    if (point === undefined || action === undefined) return undefined;
    const word = action.split(':')[0] as ArmedFailpoint['action'];
    return { point, action: word, blockMs: Number(blockMs ?? 0), at: Number(at) };
  });
  return armed.every((one) => one !== undefined) ? armed : undefined;
}

function act({ point, action, blockMs }: ArmedFailpoint): void {
  // Past the logger, which may not get to write any more.
  writeSync(2, `failpoint ${point} ${action}\n`);
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return;
    case 'freeze':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'throw':
      throw new Error(`failpoint ${point}`);
    case 'block':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
      return;
    default:
      action satisfies never;
  }
}

/** @returns what is to be called at each place; with nothing armed, a function that does nothing. */
export function armFailpoints(armed: readonly ArmedFailpoint[]): Reach {
  if (armed.length === 0) return reachUnarmed;
  const reached = new Map<Failpoint, number>();
  const reach: Reach = (point) => {
    const times = (reached.get(point) ?? 0) + 1;
    reached.set(point, times);
    const due = armed.find((one) => one.point === point && one.at === times);
    if (due) act(due);
  };
  // The HTTP client alone knows when the bytes of a request have left.
  if (armed.some(({ point }) => point === 'after_post'))
    subscribe('undici:request:bodySent', () => reach('after_post'));
  return reach;
}
