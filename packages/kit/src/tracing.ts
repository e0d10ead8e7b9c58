import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** What the spans of an event need of it. */
interface TracedEvent {
  readonly id: string;
  readonly topic: string;
  readonly traceparent?: string;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const tracer = trace.getTracer('@ecf/kit');

/** The active span as W3C `traceparent`; undefined without one. */
export function currentTraceparent(): string | undefined {
  const span = trace.getActiveSpan();
  return span === undefined ? undefined : traceparentOf(span);
}

const ZEROS = /^0+$/;

/** The trace id that a header `traceparent` names; null if it names none. */
export function traceIdIn(traceparent: unknown): string | null {
  const parts = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  const [, traceId = '', spanId = ''] = parts ?? [];
  return parts === null || ZEROS.test(traceId) || ZEROS.test(spanId) ? null : traceId;
}

function traceparentOf(span: Span): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (!isSpanContextValid(span.spanContext())) return undefined;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function contextOf(traceparent: string | undefined): Context {
  const parts = TRACEPARENT.exec(traceparent ?? '');
  if (parts === null) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = '00'] = parts;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}

function attributes(event: TracedEvent, operation: string): Record<string, string> {
  return {
    'messaging.system': 'ecf',
    'messaging.operation.type': operation,
    'messaging.destination.name': event.topic,
    'messaging.message.id': event.id,
  };
}

function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'failed' });
}

/**
 * Publishes a batch inside one PRODUCER span per event, children of the work that caused it; the spans travel on as
 * `traceparent`.
 */
export async function withProducerSpans<E extends TracedEvent>(
  batch: readonly E[],
  publish: (stamped: E[]) => Promise<void>,
): Promise<void> {
  const spans = batch.map((event) =>
    tracer.startSpan(
      `send ${event.topic}`,
      { kind: SpanKind.PRODUCER, attributes: attributes(event, 'send') },
      contextOf(event.traceparent),
    ),
  );
  const stamped = batch.map((event, i) => {
    const traceparent = traceparentOf(spans[i] as Span);
    return traceparent === undefined ? event : { ...event, traceparent };
  });
  try {
    await publish(stamped);
  } catch (error) {
    for (const span of spans) fail(span, error);
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

/** Handles an event inside a CONSUMER span of the same trace. */
export function withConsumerSpan<T>(event: TracedEvent, group: string, handle: () => Promise<T>): Promise<T> {
  const options = {
    kind: SpanKind.CONSUMER,
    attributes: { 'messaging.consumer.group.name': group, ...attributes(event, 'process') },
  };
  return inSpan(contextOf(event.traceparent), `process ${event.topic}`, options, handle);
}

/** Runs later work for something that was traced when it came in, as a span of that trace; null = it was not traced. */
export async function withinTrace<T>(traceparent: string | null, name: string, work: () => Promise<T>): Promise<T> {
  if (traceparent === null) return work();
  return inSpan(contextOf(traceparent), name, { kind: SpanKind.INTERNAL }, work);
}

async function inSpan<T>(parent: Context, name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const span = tracer.startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The trace context of the present work as a header, for calls that no instrumentation sees. */
export function traceHeaders(): { traceparent?: string } {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

/** Runs work that belongs to no request. A request may have woken it, but the spans are not part of that request's trace. */
export function withoutTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}
