import {
  propagation,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type TextMapPropagator,
} from '@opentelemetry/api';

export type RecordedSpan = {
  name: string;
  spanId: string;
  traceId: string;
  parent?: string;
  attributes: Attributes;
  events: Array<{ name: string; attributes: unknown }>;
  failed?: string;
  isEnded: boolean;
};

/** Installs an OpenTelemetry SDK that records spans, with W3C trace contexts between processes. */
export function recordSpans(): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: (name, options, context) => start(spans, name, options, context),
      startActiveSpan: () => {
        throw new Error('startActiveSpan is not supported.');
      },
    }),
  });
  propagation.setGlobalPropagator(w3c);
  return spans;
}

function start(spans: RecordedSpan[], name: string, options: SpanOptions = {}, inside?: Context): Span {
  const parent = inside && trace.getSpanContext(inside);
  const spanId = String(spans.length + 1).padStart(16, '0');
  const traceId = parent?.traceId ?? spanId.padStart(32, 'f');
  const recorded: RecordedSpan = {
    name,
    spanId,
    traceId,
    attributes: { ...options.attributes },
    events: [],
    isEnded: false,
  };
  if (parent) recorded.parent = parent.spanId;
  spans.push(recorded);
  const spanContext: SpanContext = { spanId, traceId, traceFlags: TraceFlags.SAMPLED };
  const span: Span = {
    spanContext: () => spanContext,
    setAttribute: (key, value) => {
      recorded.attributes[key] = value;
      return span;
    },
    setAttributes: (attributes) => {
      Object.assign(recorded.attributes, attributes);
      return span;
    },
    addEvent: (event, attributes) => {
      recorded.events.push({ name: event, attributes });
      return span;
    },
    addLink: () => span,
    addLinks: () => span,
    setStatus: ({ message }) => {
      recorded.failed = message ?? '';
      return span;
    },
    updateName: (given) => {
      recorded.name = given;
      return span;
    },
    end: () => {
      if (recorded.isEnded) throw new Error(`Span ${recorded.name} has ended before.`);
      recorded.isEnded = true;
    },
    isRecording: () => !recorded.isEnded,
    recordException: () => undefined,
  };
  return span;
}

const w3c: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject(context, carrier, setter) {
    const at = trace.getSpanContext(context);
    if (at) setter.set(carrier, 'traceparent', `00-${at.traceId}-${at.spanId}-01`);
  },
  extract(context, carrier, getter) {
    const header = getter.get(carrier, 'traceparent');
    const [, traceId, spanId] = typeof header === 'string' ? header.split('-') : [];
    if (traceId === undefined || spanId === undefined) return context;
    return trace.setSpanContext(context, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
};
