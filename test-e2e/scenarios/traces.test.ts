import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment.js';
import { Numbering } from '../support/documents.js';
import { DEPLOYMENT } from '../support/standalone-process.js';
import { startTraceCollector } from '../support/trace-collector.js';

const collector = await startTraceCollector();
afterAll(() => collector.stop());
const deployment = useDeployment({
  STATUS_WAIT_MS: '0',
  FIRST_QUERY_MS: '200',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '200',
});
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });

/** The service that a span is of; in one process they share a name. */
const by = (service: string) => (DEPLOYMENT === 'standalone' ? 'standalone' : service);

describe('the trace of a submission', () => {
  it('goes from the caller through gateway, emission, authority, outbox, bus and poller to the read model', async () => {
    const submitted = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const traceId = randomBytes(16).toString('hex');
        const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
        const { invoice, encf } = numbers.next();
        const { body } = await deployment.demo.submit(invoice, { traceparent });
        expect(body).toMatchObject({ encf, status: 'EnProceso' });
        return { traceId, invoice, encf };
      }),
    );
    for (const { traceId, invoice } of submitted) {
      await deployment.demo.until('Aceptado', () => deployment.demo.submit(invoice));
      const expected = [
        [by('gateway'), /^POST/],
        ...(DEPLOYMENT === 'standalone' ? [] : [[by('emission'), /^POST .*fe_Submit/] as const]),
        [by('emission'), /^send invoices\.v1$/],
        [by('status-poller'), /^process invoices\.v1$/],
        [by('query'), /^process invoices\.v1$/],
        [by('status-poller'), /^ask for the result$/],
        [by('status-poller'), /^send invoice-status\.v1$/],
        [by('emission'), /^process invoice-status\.v1$/],
      ] as const;
      const lacking = () => {
        const spans = collector.spansOf(traceId);
        // The read model hears of the document twice: when it is submitted and when it is decided.
        const heard = spans.filter((s) => s.service === by('query') && s.name === 'process invoices.v1');
        if (heard.length < 2) return [[by('query'), 'the decision']];
        return expected.filter(([service, name]) => !spans.some((s) => s.service === service && name.test(s.name)));
      };
      // One tree: whatever is here hangs on something that is here, but for what hangs on the caller's own span.
      const roots = () => {
        const spans = collector.spansOf(traceId);
        const ids = new Set(spans.map(({ spanId }) => spanId));
        return spans.filter(({ parentSpanId }) => !ids.has(parentSpanId)).map(({ name }) => name);
      };
      const complete = () => lacking().length === 0 && roots().length === 1;
      for (const end = Date.now() + 30_000; !complete() && Date.now() < end; ) await delay(100);
      expect(lacking()).toEqual([]);
      expect(roots()).toEqual([expect.stringMatching(/^POST/)]);
      const spans = collector.spansOf(traceId);
      const calls = spans.filter(({ attributes }) =>
        Object.values(attributes).some((text) => /recepcion\/api/i.test(text)),
      );
      expect(calls.length).toBeGreaterThan(0);
    }
  }, 60_000);

  it('carries no key, no token, no taxpayer', () => {
    const text = collector.text();
    for (const secret of [deployment.demo.apiKey, deployment.running.demo.admin_token])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/eyJ[\w-]{10,}\.|PRIVATE KEY|ecf_test_/);
  });
});
