import { unwindSpans } from '@undolog/compensator/unwind-spans';
import type { SpanStart, Tracing } from '@undolog/shared/runtime/tracing';
import { childTraceparent } from '@undolog/shared/runtime/trace-context';
import { carrying, newUnwind, unwindsOf } from '@undolog/shared/runtime/unwind-trace';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { describe, expect, test } from 'vitest';

const ORG = '018f0000-0000-7000-8000-000000000001';
const REGISTRATION = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** A tracer that notes what it is asked for. */
function recorder(): Tracing & { readonly begun: SpanStart[] } {
  const begun: SpanStart[] = [];
  return {
    begun,
    begin(start) {
      begun.push(start);
      return { traceparent: start.self ?? childTraceparent(start.parent), end: () => undefined };
    },
    close: async () => undefined,
  };
}

const wakeUp = (sessionId: string) => ({ orgId: ORG, sessionId, undoId: null, fence: 0 });
const job = (sessionId: string, trace?: string) => ({ org_id: ORG, session_id: sessionId, undo_id: null, trace });
const entry = { undoId: 'u-1', attempt: 1, fnName: 'cancel', traceparent: REGISTRATION } as ClaimedEntry;
const ended = (state: 'compensated') => ({ state, unwind_seconds: 3, dead_letter_id: null });

describe('the span of an unwind', () => {
  test('of a child is below that of its parent, which goes on once the child has ended', () => {
    const tracing = recorder();
    const parent = newUnwind('parent', REGISTRATION, 1000);
    const atParent = unwindSpans(tracing, job('parent', carrying(wakeUp('parent'), [parent]).trace));
    const { trace: toChild } = atParent.carry(wakeUp('child'));
    const atChild = unwindSpans(tracing, job('child', toChild));
    const { trace: toParent } = atChild.carry(wakeUp('parent'));
    atChild.end(ended('compensated'));
    unwindSpans(tracing, job('parent', toParent)).end(ended('compensated'));

    const [child, whole] = tracing.begun;
    expect([child!.name, child!.parent]).toEqual(['undolog.unwind', parent.self]);
    expect(whole).toMatchObject({ parent: REGISTRATION, self: parent.self, startedAtMs: 1000 });
    expect(unwindsOf(toParent)).toEqual([parent]);
  });

  test('that the queue has lost is begun below the registration, the same for each try of the entry', () => {
    const tracing = recorder();
    const [first, again] = [unwindSpans(tracing, job('s')), unwindSpans(tracing, job('s'))];
    first.beginTry(entry);
    again.beginTry(entry);
    again.end(ended('compensated'));
    const [one, other, unwind] = tracing.begun;
    expect(one!.parent).toBe(other!.parent);
    expect(unwind).toMatchObject({ name: 'undolog.unwind', self: one!.parent, parent: REGISTRATION });
    expect(unwindsOf(again.carry(wakeUp('s')).trace).map(({ self }) => self)).toEqual([unwind!.self]);
  });

  test.each(['', 'nonsense', '{}', '[{"session":1}]', '[{"session":"s","self":"x","parent":null,"began_ms":0}]'])(
    'is not read from what others wrote: %j',
    (trace) => expect(unwindsOf(trace)).toEqual([]),
  );

  test('is nothing at all where nobody traces, and the vendor still is in the trace of the registration', () => {
    const spans = unwindSpans(undefined, job('s'));
    const { traceparent } = spans.beginTry(entry);
    expect(traceparent.slice(0, 36)).toBe(REGISTRATION.slice(0, 36));
    expect(traceparent).not.toBe(REGISTRATION);
    expect(spans.carry(wakeUp('s'))).toEqual(wakeUp('s'));
  });
});
