// The client package against fetch: one invoice, and a page of a hundred, from the standalone deployment over HTTP. Both sides run in this
// process, so the processor time is that of the caller alone; the clock includes the gateway's.
//
// Settings: BENCH_ROUNDS (9).
import fs from 'node:fs';
import { createClient } from '@ecf/client';
import { startDeploymentProcess } from '@ecf/test-servers/deployment';
import { benchFolder } from './harness/ending.js';
import { compare, inTurn, type Task } from './harness/measure.js';
import { heading, reportComparison, reportProcessorRatio } from './harness/report.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const CALLS = 200;
const INVOICES = 100;
const DAY_MS = 86_400_000;

const { demo, end } = await startDeploymentProcess('standalone', benchFolder(), { LOG_LEVEL: 'warn' });
const gateway = createClient({ url: demo.base_url, apiKey: demo.api_key });
const headers = { 'x-api-key': demo.api_key, 'rnc-issuing': demo.issuer_rnc };

const invoice = JSON.parse(fs.readFileSync(new URL('../../examples/ecf-32.json', import.meta.url), 'utf8'));
invoice.ECF.Encabezado.Emisor.RNCEmisor = demo.issuer_rnc;
const encf = 'E320000900001';
for (let index = 0; index < INVOICES; index += 1) {
  invoice.ECF.Encabezado.IdDoc.eNCF = `E32${String(900_001 + index).padStart(10, '0')}`;
  await gateway.submit(invoice);
}

const [start_date = '', end_date = ''] = [-DAY_MS, DAY_MS].map((ms) => {
  return new Date(Date.now() + ms).toISOString().slice(0, 10).split('-').reverse().join('-');
});
const period = { issuer_rnc: demo.issuer_rnc, start_date, end_date };
const listHeaders = { ...headers, 'start-date': start_date, 'end-date': end_date };

await against('one invoice', {
  client: inTurn(() => gateway.invoices.get({ issuer_rnc: demo.issuer_rnc, encf })),
  fetch: inTurn(() => fetchJson(`/invoices/${encf}`, headers)),
});
await against(`a page of ${INVOICES} invoices`, {
  client: inTurn(async () => {
    let count = 0;
    for await (const _ of gateway.invoices.list(period)) count += 1;
    if (count < INVOICES) throw new Error(`the list has ${count} invoices`);
  }),
  fetch: inTurn(() => fetchJson('/invoices', listHeaders)),
});
await end('SIGTERM');

async function against(name: string, { client, fetch }: { client: Task; fetch: Task }): Promise<void> {
  heading(name);
  const result = await compare(client, fetch, CALLS, ROUNDS);
  reportComparison('client', 'fetch', result);
  reportProcessorRatio(result);
}

async function fetchJson(path: string, sent: Record<string, string>): Promise<unknown> {
  const answer = await fetch(demo.base_url + path, { headers: sent });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
