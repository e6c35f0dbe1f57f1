import type { WakeUp } from '@undolog/shared/domain/wake-up';
import { nowMs } from '@undolog/shared/runtime/clock';
import type { RouteSpan, SpanAttributes, SpanStart, Tracing } from '@undolog/shared/runtime/tracing';
import { carrying, newUnwind } from '@undolog/shared/runtime/unwind-trace';
import type { Reply } from './reply.js';

/** What a trace shows of one request. */
export interface RequestSpan {
  /** For what follows from the request. */
  readonly traceparent: string | null;
  note(attributes: SpanAttributes): void;
  /** A wake-up that starts, or resumes, an unwind below this request. */
  carry(wake: WakeUp): WakeUp;
  /** @param reply undefined: a surprise. */
  end(reply?: Reply): void;
}

const nothing = (): void => undefined;

/** A request that is not traced passes on what its sender named. */
function untraced(traceparent: string | null): RequestSpan {
  return { traceparent, note: nothing, carry: (wake) => wake, end: nothing };
}

type RequestStart = Pick<SpanStart, 'parent' | 'attributes'> & { readonly name: RouteSpan | undefined };

/** Begins the span of a request whose route has one. */
export function beginRequest(tracing: Tracing | undefined, { name, parent, attributes }: RequestStart): RequestSpan {
  if (!tracing || !name) return untraced(parent);
  const span = tracing.begin({ name, parent, attributes, kind: 'server' });
  let noted: SpanAttributes = {};
  return {
    traceparent: span.traceparent,
    note: (more) => (noted = { ...noted, ...more }),
    carry(wake) {
      if (wake.task) return wake;
      return carrying(wake, [newUnwind(wake.sessionId, span.traceparent, nowMs())]);
    },
    end: (reply) => span.end({ ...noted, 'http.response.status_code': reply?.status }, !reply),
  };
}
