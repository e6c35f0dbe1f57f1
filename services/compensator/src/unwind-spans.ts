import type { WakeUp } from '@undolog/shared/domain/wake-up';
import type { WokenFor } from '@undolog/shared/queue/job';
import { nowMs } from '@undolog/shared/runtime/clock';
import { childTraceparent, spanIdOf } from '@undolog/shared/runtime/trace-context';
import type { SpanAttributes, Tracing } from '@undolog/shared/runtime/tracing';
import { carrying, newUnwind, unwindsOf, type OpenUnwind } from '@undolog/shared/runtime/unwind-trace';
import type { Ended } from '@undolog/shared/store/advance-unwind';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import type { Tried } from './call-vendor.js';

export interface TrySpan {
  /** What the vendor is told, so that its own spans are below this one. */
  readonly traceparent: string;
  /** Does the try, and ends with what became of it. */
  around(work: () => Promise<Tried>): Promise<Tried>;
}

/** What a trace shows of one job's part in an unwind. */
export interface UnwindSpans {
  beginTry(entry: ClaimedEntry): TrySpan;
  /** The next wake-up, told which unwinds it belongs to. */
  carry(wake: WakeUp): WakeUp;
  end(ended: Ended): void;
}

const UNTRACED: UnwindSpans = {
  beginTry: (entry) => ({ traceparent: childTraceparent(entry.traceparent), around: (work) => work() }),
  carry: (wake) => wake,
  end: () => undefined,
};

export function unwindSpans(tracing: Tracing | undefined, job: WokenFor): UnwindSpans {
  return tracing ? new TracedUnwind(tracing, job) : UNTRACED;
}

function whatCame(tried: Tried): SpanAttributes {
  if (!tried) return { 'undolog.outcome': 'claim_lost' };
  const { attempt, settlement } = tried;
  return {
    'undolog.outcome': attempt?.outcome ?? 'no_call',
    'http.response.status_code': attempt?.status,
    'undolog.state': settlement.kind === 'settled' ? settlement.state : settlement.kind,
    'undolog.code': 'code' in settlement ? settlement.code : null,
  };
}

const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

class TracedUnwind implements UnwindSpans {
  readonly #tracing: Tracing;
  readonly #ids: SpanAttributes;
  readonly #sessionId: string;
  #unwinds: readonly OpenUnwind[];

  constructor(tracing: Tracing, job: WokenFor) {
    this.#tracing = tracing;
    this.#sessionId = job.session_id;
    this.#ids = { 'undolog.org_id': job.org_id, 'undolog.session_id': job.session_id };
    this.#unwinds = unwindsOf(job.trace);
  }

  beginTry(entry: ClaimedEntry): TrySpan {
    const unwind = this.#unwindFrom(entry);
    const registration = entry.traceparent;
    // The vendor is called in the trace of the registration, whoever started the unwind.
    const apart = registration !== null && traceIdOf(registration) !== traceIdOf(unwind.self);
    const links = [apart ? unwind.self : (registration ?? [])].flat();
    const attempt = { 'undolog.undo_id': entry.undoId, 'undolog.attempt': entry.attempt };
    const span = this.#tracing.begin({
      name: 'undolog.undo',
      kind: 'client',
      parent: apart ? registration : unwind.self,
      links,
      attributes: { ...this.#ids, ...attempt, 'undolog.fn_name': entry.fnName },
    });
    return {
      traceparent: span.traceparent,
      async around(work) {
        try {
          const tried = await work();
          span.end(whatCame(tried));
          return tried;
        } catch (error) {
          span.end({ 'undolog.outcome': 'fault' }, true);
          throw error;
        }
      },
    };
  }

  carry(wake: WakeUp): WakeUp {
    const own = this.#unwinds.findIndex(({ session }) => session === wake.sessionId);
    if (own >= 0) return carrying(wake, this.#unwinds.slice(0, own + 1));
    const above = this.#unwinds.at(-1);
    if (!above) return wake;
    return carrying(wake, [...this.#unwinds, newUnwind(wake.sessionId, above.self, nowMs())]);
  }

  end({ state, unwind_seconds: seconds }: Ended): void {
    const unwind = this.#unwinds.find(({ session }) => session === this.#sessionId);
    if (!unwind) return;
    const { self, parent, began_ms: beganMs } = unwind;
    const startedAtMs = beganMs ?? nowMs() - (seconds ?? 0) * 1000;
    this.#tracing
      .begin({ name: 'undolog.unwind', kind: 'internal', parent, attributes: this.#ids, self, startedAtMs })
      .end({ 'undolog.state': state });
  }

  /**
   * A wake-up that tells of no unwind comes from the sweep, or from a process that is not traced: then the unwind shows
   * below the registration, with an id that each try of the same entry finds again.
   */
  #unwindFrom(entry: ClaimedEntry): OpenUnwind {
    const carried = this.#unwinds.find(({ session }) => session === this.#sessionId);
    if (carried) return carried;
    const unwind = newUnwind(this.#sessionId, entry.traceparent, null, spanIdOf(`unwind ${entry.undoId}`));
    this.#unwinds = [...this.#unwinds, unwind];
    return unwind;
  }
}
