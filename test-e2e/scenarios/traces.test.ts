import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment/deployment.js';
import { DEPLOYMENT } from '../support/deployment/standalone-process.js';
import { startTraceCollector } from '../support/deployment/trace-collector.js';
import { Numbering } from '../support/documents/documents.js';

const collector = await startTraceCollector();
afterAll(() => collector.stop());
const deployment = useDeployment({
  STATUS_WAIT_MS: '0',
  // Within this time the poller consumes the event of a submission, even if a query made it known earlier.
  FIRST_QUERY_MS: '2000',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '200',
});
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });

/** The service name in a span; in the standalone deployment all services share one. */
const by = (service: string) => (DEPLOYMENT === 'standalone' ? 'standalone' : service);

/** Service and name of an expected span. */
type Wanted = readonly [service: string, name: RegExp];

const newTrace = () => {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
};
const spans = (traceId: string, [service, name]: Wanted) =>
  collector.spansOf(traceId).filter((span) => span.service === service && name.test(span.name));

/** Waits for a trace with all expected spans in one tree whose root is the request. */
async function expectTree(traceId: string, expected: readonly Wanted[]): Promise<void> {
  const lacking = () => expected.filter((wanted) => spans(traceId, wanted).length === 0);
  const roots = () => {
    const all = collector.spansOf(traceId);
    const ids = new Set(all.map(({ spanId }) => spanId));
    return all.filter(({ parentSpanId }) => !ids.has(parentSpanId)).map(({ name }) => name);
  };
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(100))
    if (lacking().length === 0 && roots().length === 1) break;
  expect(lacking()).toEqual([]);
  expect(roots()).toEqual([expect.stringMatching(/^POST/)]);
}

/** Several together, so that services handle them together. */
const documents = Array.from({ length: 4 }, () => ({ ...newTrace(), ...numbers.next() }));

describe('the trace of a submission', () => {
  it('goes from the caller through gateway, emission, authority, outbox, bus and poller to the read model', async () => {
    await Promise.all(
      documents.map(async ({ invoice, encf, traceparent }) => {
        const { body } = await deployment.demo.submit(invoice, { traceparent });
        expect(body).toMatchObject({ encf, status: 'EnProceso' });
      }),
    );
    for (const { traceId, encf } of documents) {
      // Read from the read model: a repeat of the submission would query the authority before the poller does.
      const headers = { 'rnc-issuing': '199999991' };
      await deployment.demo.until('Aceptado', () => deployment.demo.call('GET', `/invoices/${encf}`, { headers }));
      // The read model consumes two events of the document: its submission and its decision.
      const consumed: Wanted = [by('query'), /^process invoices\.v1$/];
      for (const end = Date.now() + 60_000; spans(traceId, consumed).length < 2 && Date.now() < end; ) await delay(100);
      expect(spans(traceId, consumed).length).toBeGreaterThanOrEqual(2);
      await expectTree(traceId, [
        [by('gateway'), /^POST/],
        ...(DEPLOYMENT === 'standalone' ? [] : [[by('emission'), /^POST .*fe_Submit/] as const]),
        [by('emission'), /^send invoices\.v1$/],
        [by('status-poller'), /^process invoices\.v1$/],
        [by('status-poller'), /^query the result$/],
        [by('status-poller'), /^send invoice-status\.v1$/],
        [by('emission'), /^process invoice-status\.v1$/],
      ]);
      const calls = collector
        .spansOf(traceId)
        .filter(({ attributes }) => Object.values(attributes).some((text) => /recepcion\/api/i.test(text)));
      expect(calls.length).toBeGreaterThan(0);
    }
  });

  it('continues to the buyer, and with the acknowledgement to the read model, in one trace a document', async () => {
    for (const { traceId } of documents) {
      await expectTree(traceId, [
        [by('approvals'), /^process invoices\.v1$/],
        [by('approvals'), /^deliver to the buyer$/],
        [by('approvals'), /^send deliveries\.v1$/],
        [by('query'), /^process deliveries\.v1$/],
      ]);
      expect(spans(traceId, [by('approvals'), /^send deliveries\.v1$/])).toHaveLength(1);
    }
  });

  it("of the buyer's decision goes to authority, issuer and both read models", async () => {
    const [{ encf } = { encf: '' }] = documents;
    const { traceId, traceparent } = newTrace();
    const { status, body } = await deployment.demo.call('POST', '/acecf/', {
      headers: { 'content-type': 'application/json', traceparent },
      body: JSON.stringify({
        issuer_rnc: '199999991',
        receiver_rnc: '188888885',
        encf,
        approval_status: 1,
        approval_datetime: '2026-06-23T17:45:47-04:00',
        authority_environment: 'TesteCF',
        invoice_date_issued: '2026-06-15',
        invoice_total_amount: '11430.00',
      }),
    });
    expect([status, body.authority_submission_status]).toEqual([201, 'Aceptado']);
    await expectTree(traceId, [
      [by('gateway'), /^POST/],
      ...(DEPLOYMENT === 'standalone' ? [] : [[by('approvals'), /^POST .*acecf/] as const]),
      [by('approvals'), /^send approvals\.v1$/],
      [by('reception'), /^process approvals\.v1$/],
      [by('query'), /^process approvals\.v1$/],
    ]);
    const called = (part: RegExp) =>
      collector.spansOf(traceId).some(({ attributes }) => Object.values(attributes).some((text) => part.test(text)));
    expect(called(/aprobacioncomercial\/api/i)).toBe(true);
  });

  it('carries no key, no token, no taxpayer', () => {
    const text = collector.text();
    for (const secret of [deployment.demo.apiKey, deployment.running.demo.admin_token])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/eyJ[\w-]{10,}\.|PRIVATE KEY|ecf_test_/);
  });
});
