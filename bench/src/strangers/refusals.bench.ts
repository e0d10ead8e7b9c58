// A stranger pushes 200 documents a second whose signature is not valid, each with bytes of its own, while a customer submits one
// invoice after another: bytes kept for the stranger, and the customer's p99 beside it and alone. All settings have their defaults.
//
// BENCH_SECONDS (60), BENCH_RATE (200 a second).
import { readdirSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import { benchFolder } from '../harness/ending.js';
import { createLoad } from '../harness/load.js';
import { percentile } from '../harness/measure.js';
import { heading, line } from '../harness/report.js';
import { certificate, encfOf, invoice } from '../inputs/sample.js';
import { startSubject, submissionsUntil } from '../subject/subject.js';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
const RATE = Number(process.env.BENCH_RATE ?? 200);
const ADDRESS = '/fe/recepcion/api/ecf';
const PROVIDER = '131880738';
const BOUNDARY = 'document-of-the-stranger';
const WARM_UP = 300;

const now = new Date();
const date = formatDocumentDate(toCalendarDate(now));
const folder = benchFolder();
const subject = await startSubject(folder, date, 10);
const load = createLoad(
  subject.standalone.demo.base_url,
  (status, text) => status === 200 && text.includes('"EnProceso"'),
);
try {
  await run();
} finally {
  load.close();
  await subject.standalone.end('SIGTERM');
}

async function run(): Promise<void> {
  const template = await signedDocument(subject.standalone.demo.buyer_rnc);
  await load.round(subject.nextCalls(WARM_UP), 8);
  heading(
    `a stranger pushes ${RATE} refusals of ${template.length} bytes a second for ${SECONDS} s; one customer submits`,
  );
  const alone = await submissionsUntil(load, subject, delay(Math.min(SECONDS, 30) * 1_000));
  const before = keptBytes();
  const stranger = pushRefusals(template);
  const beside = await submissionsUntil(load, subject, stranger);
  const { sent, answers, seconds } = await stranger;
  // The archiver moves the last documents within a second.
  await delay(3_000);
  line(
    `the stranger: ${sent} sent in ${seconds.toFixed(0)} s (${(sent / seconds).toFixed(0)}/s); answers ${print(answers)}`,
  );
  line(`kept for the stranger: ${((keptBytes() - before) / 1e6).toFixed(1)} MB`);
  line(
    `the customer alone: ${alone.length} submissions, p50 ${ms(alone, 0.5)}, p99 ${ms(alone, 0.99)}; ` +
      `beside: ${beside.length}, p50 ${ms(beside, 0.5)}, p99 ${ms(beside, 0.99)}`,
  );
}

/** A signed e-CF of a provider. Other digits in its eNCF make the signature invalid. */
async function signedDocument(buyer: string): Promise<string> {
  const json = invoice(encfOf(1), 10, { issuer: PROVIDER, buyer, date }) as { ECF: Record<string, unknown> };
  json.ECF.FechaHoraFirma = formatSignatureDateTime(now);
  const { tree } = checkJson(json);
  return (await signXml(writeXml(tree as never), certificate().certificate)).xml;
}

/** Sends at a fixed rate, however long the answers take. */
async function pushRefusals(template: string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const answers = new Map<string, number>();
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1_000;
  const open = new Set<Promise<void>>();
  let sent = 0;
  for (; elapsed() < SECONDS; await delay(5)) {
    for (; sent < elapsed() * RATE; sent += 1) {
      const call = send(agent, template.replaceAll(encfOf(1), encfOf(2 + sent))).then((answer) => {
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        open.delete(call);
      });
      open.add(call);
    }
  }
  await Promise.all(open);
  agent.destroy();
  return { sent, answers, seconds: elapsed() };
}

/** The status of the answer, with Estado or code. */
function send(agent: http.Agent, xml: string): Promise<string> {
  const body = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="xml"; filename="${PROVIDER}.xml"\r\nContent-Type: text/xml\r\n\r\n${xml}\r\n--${BOUNDARY}--\r\n`;
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve) => {
    const request = http.request(
      new URL(ADDRESS, subject.standalone.demo.base_url),
      { agent, method: 'POST', headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () =>
          resolve(`${response.statusCode} ${/"code":"(\w+)"|<Estado>\d/.exec(text)?.[0] ?? ''}`),
        );
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end(body);
  });
}

/** Bytes of the archive outside the folders of submitted documents: received ones, and acknowledgements of them. */
function keptBytes(): number {
  const root = path.join(folder, 'xml');
  const sizes = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.xml') && !/^\w+\/ecf\/\d+\/issued\//.test(file))
    .map((file) => statSync(path.join(root, file)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

function print(answers: ReadonlyMap<string, number>): string {
  return [...answers].map(([answer, count]) => `${count} × ${answer}`).join(', ');
}

function ms(seconds: readonly number[], share: number): string {
  return `${(percentile([...seconds], share) * 1_000).toFixed(0)} ms`;
}
