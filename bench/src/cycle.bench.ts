// The whole cycle on the standalone deployment over HTTP: from POST /fe_Submit to the authority's verdict (the reference), to
// the buyer's acknowledgement as its issuer sees it, and to the buyer's approval as its issuer sees it. One process plays
// both sides: issuer and buyer are those of the sandbox. The simulator decides at once. A second deployment with tracing then shows
// the spans of one cycle.
//
// BENCH_DOCUMENTS (60): cycles, one after another.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { type DeploymentProcess, startDeploymentProcess } from '@ecf/test-servers/deployment';
import { benchFolder } from './harness/ending.js';
import { percentile } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import { encfOf, invoice, totalOf } from './inputs/sample.js';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 60);
const WARM_UP = 10;
const LINES = 10;
/** Numbers up to this one belong to the deployment's own first invoices. */
const FIRST = 10;
const LOOK_MS = 5;
const SETTINGS = { LOG_LEVEL: 'warn', PROCESSING_MS: '0', STATUS_WAIT_MS: '10000' };
const today = toCalendarDate(new Date());

interface Cycle {
  verdict: number;
  acknowledged: number;
  approved: number;
}

await latencies();
await rowsInATrace();

async function latencies(): Promise<void> {
  await withDeployment({}, async (standalone) => {
    heading(`the whole cycle, one after another; ${DOCUMENTS} documents of ${LINES} lines`);
    const cycles: Cycle[] = [];
    for (let n = 1; n <= WARM_UP + DOCUMENTS; n += 1) {
      const one = await cycle(standalone, encfOf(FIRST + n));
      if (n > WARM_UP) cycles.push(one);
    }
    const reference = percentile(column(cycles, 'verdict'), 0.5);
    for (const [name, words] of [
      ['verdict', "the authority's verdict"],
      ['acknowledged', "the buyer's acknowledgement, seen at the issuer"],
      ['approved', "the buyer's approval at authority and issuer, seen at the issuer"],
    ] as const) {
      const [p50, p99] = [percentile(column(cycles, name), 0.5), percentile(column(cycles, name), 0.99)];
      const ratio = (p50 / reference).toFixed(1);
      line(`from POST to ${words}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ${ratio} × the verdict`);
    }
  });
}

function column(cycles: readonly Cycle[], name: keyof Cycle): number[] {
  return cycles.map((one) => one[name]);
}

async function rowsInATrace(): Promise<void> {
  const rows = new Map<string, Map<string, number>>();
  const collector = await startCollector(({ traceId, name }) => {
    const names = rows.get(traceId) ?? new Map<string, number>();
    names.set(name, (names.get(name) ?? 0) + 1);
    rows.set(traceId, names);
  });
  try {
    const tracing = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    };
    const traceId = randomBytes(16).toString('hex');
    await withDeployment(tracing, async (standalone) => {
      const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
      await cycle(standalone, encfOf(FIRST + 1), { traceparent });
      await delay(2_000);
    });
    const names = [...(rows.get(traceId) ?? [])].sort(([, one], [, other]) => other - one);
    const total = names.reduce((sum, [, count]) => sum + count, 0);
    heading('rows that one cycle leaves in the trace of its caller');
    line(`${total} rows of ${names.length} kinds`);
    for (const [name, count] of names) line(`${String(count).padStart(4)}  ${name}`);
  } finally {
    collector.stop();
  }
}

/** Milliseconds from the submission to each step. The approval starts when the acknowledgement is visible. */
async function cycle({ demo }: DeploymentProcess, encf: string, headers: Record<string, string> = {}): Promise<Cycle> {
  const { base_url, api_key, issuer_rnc, buyer_rnc } = demo;
  const date = formatDocumentDate(today);
  const document = invoice(encf, LINES, { issuer: issuer_rnc, buyer: buyer_rnc, date });
  const keyed = { 'x-api-key': api_key, ...headers };
  // The polling is not part of the cycle, nor of its trace.
  const looking = { headers: { 'x-api-key': api_key } };
  const form = new FormData();
  form.set('data', JSON.stringify(document));
  const began = performance.now();
  const submitted = await call(`${base_url}/fe_Submit`, { method: 'POST', headers: keyed, body: form });
  if (submitted.status !== 'Aceptado') throw new Error(`not accepted: ${JSON.stringify(submitted).slice(0, 300)}`);
  const verdict = performance.now() - began;
  const arecf = `${base_url}/received-arecf/?issuer_rnc=${issuer_rnc}&encf=${encf}`;
  while (((await call(arecf, looking)) as unknown as unknown[]).length === 0) await delay(LOOK_MS);
  const acknowledged = performance.now() - began;
  const order = {
    issuer_rnc,
    receiver_rnc: buyer_rnc,
    encf,
    approval_status: 1,
    approval_datetime: new Date().toISOString(),
    authority_environment: 'TesteCF',
    invoice_date_issued: today,
    invoice_total_amount: totalOf(LINES),
  };
  const json = { ...keyed, 'content-type': 'application/json' };
  const given = await call(`${base_url}/acecf`, { method: 'POST', headers: json, body: JSON.stringify(order) });
  if (given.authority_submission_status !== 'Aceptado') throw new Error(`not approved: ${JSON.stringify(given)}`);
  const approvalUrl = `${base_url}/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${issuer_rnc}`;
  while ((await call(approvalUrl, looking)).approval_status !== 'approved') await delay(LOOK_MS);
  return { verdict, acknowledged, approved: performance.now() - began };
}

async function call(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function withDeployment(
  env: Record<string, string>,
  work: (standalone: DeploymentProcess) => Promise<void>,
): Promise<void> {
  const folder = benchFolder();
  const standalone = await startDeploymentProcess('standalone', folder, { ...SETTINGS, ...env });
  try {
    await work(standalone);
  } finally {
    await standalone.end('SIGTERM');
  }
}

interface Span {
  traceId: string;
  name: string;
}

/** Receives OTLP as JSON over HTTP. */
async function startCollector(onSpan: (span: Span) => void): Promise<{ url: string; stop(): void }> {
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    };
    for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) spans.forEach(onSpan);
    res.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
