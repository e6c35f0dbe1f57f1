import { DEFAULT_RETRY, type Compensation } from '@undolog/shared/domain/compensation';
import type { UndoCall } from '@undolog/shared/vendor/compensation-call';

/** A compensation as the registry gives it: everything is at its default but what the test names. */
export function compensation(spec: Partial<Compensation> & Pick<Compensation, 'url'>): Compensation {
  return {
    method: 'POST',
    timeout_ms: 5000,
    headers: {},
    retry: DEFAULT_RETRY,
    outcomes: { done: [], retry: [], permanent: [], body: [] },
    async: false,
    wait_out_outages: true,
    key_ttl_seconds: 86_400,
    ...spec,
  };
}

/** A call of it, with ids that a test can recognise. */
export function undoCall(spec: Compensation, rest: Partial<Omit<UndoCall, 'spec'>> = {}): UndoCall {
  return {
    spec,
    body: '{"booking_id":"b-1"}',
    undoId: '01990000-0000-7000-8000-00000000000a',
    sessionId: 'trip:42',
    effectId: '01990000-0000-7000-8000-00000000000b',
    outcome: 'committed',
    attempt: 1,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ...rest,
  };
}
