/** Ids, counts and words of ours. What an agent or a vendor wrote never belongs into a span. */
export type SpanAttributes = Readonly<Record<string, string | number | null | undefined>>;

export interface SpanStart {
  readonly name: 'undolog.unwind' | 'undolog.undo' | RouteSpan;
  readonly kind: 'server' | 'client' | 'internal';
  /** A `traceparent`; null: the first of its trace. */
  readonly parent: string | null;
  readonly links?: readonly string[];
  readonly attributes: SpanAttributes;
  /** Of a span that others have been told of before it is written: its own `traceparent`. */
  readonly self?: string;
  readonly startedAtMs?: number;
}

/** What a request is called that registers an effect, or that starts or resumes an unwind. */
export type RouteSpan =
  `undolog.${'register' | 'fail' | 'cancel' | 'rollback' | 'retry' | 'skip' | 'resolve' | 'confirm' | 'bulk'}`;

export interface Span {
  /** For whatever happens within it, here or elsewhere. */
  readonly traceparent: string;
  /** `failed`: a surprise; an expected refusal is no fault of the span. */
  end(attributes: SpanAttributes, failed?: boolean): void;
}

export interface Tracing {
  begin(start: SpanStart): Span;
  /** Sends what is left, within a bounded time. */
  close(): Promise<void>;
}
