import { withProducerSpans } from '@ecf/kit';
import { createLogger } from '@ecf/kit/telemetry';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { context, propagation, trace } from '@opentelemetry/api';
import { node } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createInProcessBus } from '../src/bus.in-process.js';
import { taxpayerEvent } from './sample-events.js';

const exporter = new InMemorySpanExporter();
beforeAll(() => {
  new node.NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
});
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

describe('traces', () => {
  it('lead from the work that caused an event through its publication to its handling', async () => {
    const bus = createInProcessBus({ logger: silentLogger });
    let inside: string | undefined;
    await bus.subscribe({
      topics: ['taxpayers.v1'],
      group: 'emission',
      handler: async () => {
        inside = trace.getActiveSpan()?.spanContext().traceId;
      },
    });
    const tracer = trace.getTracer('test');
    const event = tracer.startActiveSpan('POST /admin', (span) => {
      const made = taxpayerEvent('131000001');
      span.end();
      return made;
    });
    expect(event.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    await withProducerSpans([event], (stamped) => bus.publish(stamped));

    const spans = exporter.getFinishedSpans();
    const [request, consumer, producer] = ['POST /admin', 'process taxpayers.v1', 'send taxpayers.v1'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(new Set([request, producer, consumer].map((span) => span?.spanContext().traceId)).size).toBe(1);
    expect(producer?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(consumer?.parentSpanContext?.spanId).toBe(producer?.spanContext().spanId);
    expect([producer?.kind, consumer?.kind]).toEqual([3, 4]);
    expect(inside).toBe(request?.spanContext().traceId);
    expect(JSON.stringify(spans.map((span) => span.attributes))).not.toContain('131000001');
  });

  it('appear in log lines by their ids', () => {
    let line = '';
    const logger = createLogger({
      service: 'test',
      destination: {
        write: (text) => {
          line = text;
        },
      },
    });
    trace.getTracer('test').startActiveSpan('work', (span) => {
      logger.info('hello');
      span.end();
      expect(JSON.parse(line)).toMatchObject({
        trace_id: span.spanContext().traceId,
        span_id: span.spanContext().spanId,
      });
    });
  });
});
