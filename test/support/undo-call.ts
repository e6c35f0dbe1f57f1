import type { UndoCall } from '@undolog/compensator/compensation-call';
import { DEFAULT_RETRY, type Compensation } from '@undolog/shared/domain/compensation';

export function compensation(url: string, some: Partial<Compensation> = {}): Compensation {
  return {
    url,
    method: 'POST',
    timeout_ms: 5000,
    headers: {},
    retry: DEFAULT_RETRY,
    outcomes: { done: [], retry: [], permanent: [], body: [] },
    async: false,
    ...some,
  };
}

/** An undo as the unwinder would send it. */
export function undoCall(spec: Compensation, some: Partial<UndoCall> = {}): UndoCall {
  return {
    spec,
    body: '{"booking_id":"b-1"}',
    undoId: '01890000-0000-7000-8000-000000000001',
    sessionId: 's-1',
    effectId: '01890000-0000-7000-8000-000000000002',
    outcome: 'committed',
    attempt: 1,
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    ...some,
  };
}
