// Commercial approvals over HTTP on the standalone deployment: decisions of buyers in, our own out, and validating one
// against one raw RSA-2048 verification. The time includes everything that the answer promises: bytes, row and event are durable.
// For our own it also includes the answers of the authority (simulator) and of the issuer, which is the same deployment here.
//
// BENCH_DOCUMENTS (400): e-CF for each part; BENCH_SENDERS (1,32); BENCH_ROUNDS (7).
import { createPublicKey, sign, verify } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { validateApproval } from '@ecf/approvals';
import { formatDocumentDate, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import { benchFolder } from './harness/ending.js';
import { type Call, createLoad, type Round } from './harness/load.js';
import { compare, inTurn, percentile, repeat } from './harness/measure.js';
import { heading, line, reportComparison } from './harness/report.js';
import { certificate, encfOf, totalOf } from './inputs/sample.js';
import { type Subject, startSubject } from './subject/subject.js';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 400);
const SENDERS = (process.env.BENCH_SENDERS ?? '1,32').split(',').map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const LINES = 10;
/** Numbers up to this one belong to the deployment's own first invoices. */
const FIRST = 10;

const signer = certificate();
const now = new Date();
const today = toCalendarDate(now);

async function approvalXml(encf: string, parties: { issuer: string; buyer: string }): Promise<Buffer> {
  const detail = {
    Version: '1.0',
    RNCEmisor: parties.issuer,
    eNCF: encf,
    FechaEmision: formatDocumentDate(today),
    MontoTotal: totalOf(LINES),
    RNCComprador: parties.buyer,
    Estado: '1',
    FechaHoraAprobacionComercial: formatSignatureDateTime(now),
  };
  const tree = { ACECF: { DetalleAprobacionComercial: detail } };
  return Buffer.from((await signXml(writeXml(tree), signer.certificate)).xml, 'utf8');
}

await engine();
await deployed();

async function engine(): Promise<void> {
  const bytes = await approvalXml(encfOf(1), { issuer: '199999991', buyer: '188888885' });
  const options = { now, trust: () => ({ trusted: null, doubt: null }), maxBytes: 1024 * 1024 };
  const data = Buffer.alloc(400, 'x');
  const key = createPublicKey(signer.certificate.privateKey);
  const signature = sign('sha256', data, signer.certificate.privateKey);
  const validate = async (): Promise<void> => {
    const validated = validateApproval(bytes, options);
    if (validated.refusal !== null) throw new Error(validated.refusal);
  };
  heading(`validating one approval; ${bytes.length} bytes`);
  await inTurn(validate)(1_000);
  const raw = () => void verify('sha256', data, key, signature);
  reportComparison('validate', 'one raw RSA verification', await compare(inTurn(validate), repeat(raw), 300, ROUNDS));
}

async function deployed(): Promise<void> {
  const folder = benchFolder();
  const subject = await startSubject(folder, formatDocumentDate(today), LINES, 'standalone', { toSandboxBuyer: true });
  try {
    await issue(subject, DOCUMENTS * 2 * SENDERS.length);
    let next = FIRST + 1;
    const batch = () => Array.from({ length: DOCUMENTS }, () => encfOf(next++));
    heading('POST /fe/aprobacioncomercial/api/ecf: bytes, row and event durable before the answer');
    for (const senders of SENDERS) report(senders, await received(subject, batch(), senders));
    heading(
      'POST /acecf: signed, stored, taken by the authority and by the issuer (the same deployment) before the answer',
    );
    for (const senders of SENDERS) report(senders, await given(subject, batch(), senders));
  } finally {
    await subject.standalone.end('SIGTERM');
  }
}

/** Submits the e-CF, then waits until the authority has accepted them and the buyer has them. */
async function issue({ standalone, nextCalls, decided }: Subject, count: number): Promise<void> {
  const { base_url, api_key, buyer_rnc } = standalone.demo;
  const load = createLoad(base_url, (status) => status === 200);
  await load.round(nextCalls(count), 16);
  load.close();
  await decided();
  const day = formatDocumentDate(today);
  const headers = { 'x-api-key': api_key, 'buyer-rnc': buyer_rnc, 'start-date': day, 'end-date': day };
  for (;;) {
    const answer = await fetch(`${base_url}/fe/recepcion/api/invoices/count`, { headers });
    const { total_invoices } = (await answer.json()) as { total_invoices: number };
    if (total_invoices >= count) return;
    await delay(500);
  }
}

async function received({ standalone }: Subject, encfs: string[], senders: number): Promise<Round> {
  const { base_url, issuer_rnc, buyer_rnc } = standalone.demo;
  const load = createLoad(base_url, (status, text) => status === 200 && text.includes('Aceptada'));
  const headers = { 'content-type': 'text/xml' };
  const calls: Call[] = [];
  for (const encf of encfs) {
    const body = await approvalXml(encf, { issuer: issuer_rnc, buyer: buyer_rnc });
    calls.push({ path: '/fe/aprobacioncomercial/api/ecf', headers, body });
  }
  const round = await load.round(calls, senders);
  load.close();
  return round;
}

async function given({ standalone }: Subject, encfs: string[], senders: number): Promise<Round> {
  const { base_url, api_key, issuer_rnc, buyer_rnc } = standalone.demo;
  const sent = /"authority_submission_status":"Aceptado".*"issuer_delivery_status":"delivered"/;
  const load = createLoad(base_url, (status, text) => status === 201 && sent.test(text));
  const headers = { 'x-api-key': api_key, 'content-type': 'application/json' };
  const order = {
    issuer_rnc,
    receiver_rnc: buyer_rnc,
    approval_status: 1,
    approval_datetime: now.toISOString(),
    authority_environment: 'TesteCF',
    invoice_date_issued: today,
    invoice_total_amount: totalOf(LINES),
  };
  const calls = encfs.map((encf) => ({
    path: '/acecf',
    headers,
    body: Buffer.from(JSON.stringify({ ...order, encf })),
  }));
  const round = await load.round(calls, senders);
  load.close();
  return round;
}

function report(senders: number, round: Round): void {
  const [p50, p99] = [percentile(round.latencies, 0.5), percentile(round.latencies, 0.99)];
  line(
    `${senders} at a time: ${(round.calls / round.seconds).toFixed(0)} approvals/s; p50 ${(p50 * 1000).toFixed(0)} ms, ` +
      `p99 ${(p99 * 1000).toFixed(0)} ms; ${round.calls} of them`,
  );
}
