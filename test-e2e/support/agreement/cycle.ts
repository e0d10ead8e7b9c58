import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Client } from '../client.js';
import type { Standalone } from '../deployment/standalone-process.js';
import { encf as encfOf, type Numbering } from '../documents/documents.js';
import { until } from '../until.js';
import { clientsOf } from './chaos.js';

const BATCH = 5;
/** The answer to a repeat of a call that was executed. */
const DONE = 409;
const LATER = [408, 429, 502, 503];

/** What the cycle needs to know of a deployment. */
export interface Parties {
  readonly issuer: string;
  readonly buyer: string;
  readonly numbers: Numbering;
}

/**
 * Submits a batch, approves one of its documents as its buyer, and cancels an unused number, each at changing gateways until it is
 * answered. Resolves with the numbers of the batch when the issuer sees all three outcomes.
 *
 * @param turn differs in each call of a deployment
 */
export async function cycle(
  running: Standalone,
  { issuer, buyer, numbers }: Parties,
  turn: number,
  withinMs: number,
): Promise<string[]> {
  async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const json = { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    for (let calls = turn, end = Date.now() + withinMs; ; calls += 1) {
      const clients = clientsOf(running);
      const client = clients[calls % clients.length] as Client;
      const answer = await client.call(method, path, body === undefined ? { headers } : json).catch(() => null);
      if (answer !== null && !LATER.includes(answer.status)) return answer;
      if (Date.now() > end) throw new Error(`${method} ${path}: ${answer?.text ?? 'no answer'}`);
      await delay(200);
    }
  }
  const expectOne = ({ status, text }: Answer, ...statuses: number[]) => {
    if (!statuses.includes(status)) throw new Error(`${status} ${text}`);
  };

  const invoices = Array.from({ length: BATCH }, () => numbers.next('ecf-31'));
  const encf = invoices[0]?.encf as string;
  const documents = invoices.map(({ invoice }) => invoice);
  const made = await call('POST', '/batches', documents, { 'idempotency-key': `turn-${turn}` });
  expectOne(made, 202);

  const unused = encfOf('33', turn);
  const order = {
    issuer_rnc: issuer,
    authority_environment: 'TesteCF',
    detail_lines: [{ ecf_type: '33', sequence_ranges: [{ encf_desde: unused, encf_hasta: unused }] }],
  };
  expectOne(await call('POST', '/anecf/', order), 201, DONE);

  const received = await until(
    () => call('GET', `/fe/recepcion/api/invoices/${encf}`, undefined, { 'buyer-rnc': buyer, 'provider-rnc': issuer }),
    ({ status }) => status === 200,
    withinMs,
  );
  const approval = {
    issuer_rnc: issuer,
    receiver_rnc: buyer,
    encf,
    approval_status: 1,
    approval_datetime: new Date(Date.now() - 4 * 3_600_000).toISOString().replace(/\.\d+Z/, '-04:00'),
    authority_environment: 'TesteCF',
    invoice_date_issued: received.body.date_issued.slice(0, 10),
    invoice_total_amount: received.body.total_amount.toFixed(2),
  };
  expectOne(await call('POST', '/acecf/', approval), 201, DONE);

  await until(
    async () => (await call('GET', `/batches/${made.body.batch_id}`)).body,
    ({ status, accepted }) => status === 'done' && accepted === BATCH,
    withinMs,
  );
  await until(
    async () => (await call('GET', `/invoices/${encf}`, undefined, { 'rnc-issuing': issuer })).body,
    ({ approval_status, approval_confirmed }) => approval_status === 'approved' && approval_confirmed,
    withinMs,
  );
  await until(
    async () => (await call('GET', `/anecf/?issuer_rnc=${issuer}&limit=100`)).body as Answer['body'][],
    (all) => all.some((one) => one.authority_status === 'Aceptado' && JSON.stringify(one).includes(unused)),
    withinMs,
  );
  return invoices.map((one) => one.encf);
}
