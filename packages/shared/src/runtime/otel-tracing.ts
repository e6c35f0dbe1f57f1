import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Attributes, type SpanContext } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type IdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { TRACEPARENT } from '../domain/traceparent.js';
import { monotonicMs } from './clock.js';
import type { Span, SpanAttributes, SpanStart, Tracing } from './tracing.js';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const CLOSE_WITHIN_MS = 2000;
const WARN_EVERY_MS = 60_000;

/** Random ids, but for the one span that is begun under an id which others know already. */
class KnownIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  known: SpanContext | undefined;
  generateTraceId = (): string => this.known?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.known?.spanId ?? this.#random.generateSpanId();
}

function contextOf(traceparent: string): SpanContext | undefined {
  if (!TRACEPARENT.test(traceparent)) return undefined;
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

function clean(attributes: SpanAttributes): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null) kept[name] = value;
  return kept;
}

/** Says at times that spans are lost, and never why: the words of a collector are not ours. */
function watched(exporter: SpanExporter, onLost: () => void): SpanExporter {
  let quietUntilMs = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && monotonicMs() >= quietUntilMs) {
          quietUntilMs = monotonicMs() + WARN_EVERY_MS;
          onLost();
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * Spans for a collector, over OTLP/HTTP. Endpoint, headers, sampler, limits, batches and the resource are OpenTelemetry's
 * standard variables, which its packages read by themselves. Nothing here waits: what the collector does not take is
 * lost, and nobody else is held up.
 */
export function openOtelTracing(serviceName: string, onLost: () => void): Tracing {
  const ids = new KnownIds();
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(watched(new OTLPTraceExporter(), onLost))],
  });
  const tracer = provider.getTracer('undolog');

  function begin({ name, kind, parent, links = [], attributes, self, startedAtMs }: SpanStart): Span {
    const above = parent === null ? undefined : contextOf(parent);
    const options = {
      kind: KINDS[kind],
      attributes: clean(attributes),
      links: links.flatMap((link) => contextOf(link) ?? []).map((context) => ({ context })),
      ...(startedAtMs !== undefined && { startTime: startedAtMs }),
    };
    ids.known = self === undefined ? undefined : contextOf(self);
    const span = tracer.startSpan(name, options, above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT);
    ids.known = undefined;
    return {
      traceparent: traceparentOf(span.spanContext()),
      end(more, failed = false) {
        span.setAttributes(clean(more));
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  return {
    begin,
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}
