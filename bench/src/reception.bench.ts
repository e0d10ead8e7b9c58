// Receiving an e-CF: validating and acknowledging against one raw RSA-2048 signature plus one raw verification; then over
// HTTP through the public route of the standalone deployment, with everything stored, against the same pair; slow senders;
// hostile inputs.
//
// BENCH_ROUNDS (7), BENCH_SENDERS (1,64), BENCH_SLOW (500); BENCH_PARTS (engine,senders,slow,hostile) is what is measured.
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { formatDocumentDate, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { signAcknowledgement, trustCheck, validateDocument } from '@ecf/reception';
import { type DeploymentProcess, startDeploymentProcess } from '@ecf/test-servers/deployment';
import { signXml } from '@ecf/xml-signing';
import { benchFolder } from './harness/ending.js';
import { type Call, createLoad, type Load } from './harness/load.js';
import { compare, inTurn, median, percentile, repeat, seconds, type Task, together } from './harness/measure.js';
import { childCalled, processorSeconds, processorSecondsOfTree, residentBytes } from './harness/processes.js';
import { heading, line, reportComparison } from './harness/report.js';
import { hostileInputs } from './inputs/hostile-inputs.js';
import { certificate, encfOf, invoice } from './inputs/sample.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SENDERS = (process.env.BENCH_SENDERS ?? '1,64').split(',').map(Number);
const SLOW = Number(process.env.BENCH_SLOW ?? 500);
const PARTS = new Set((process.env.BENCH_PARTS ?? 'engine,senders,slow,hostile').split(','));
const PROVIDER = '131880738';
/** Documents of warm-up: a running receiver has compiled its code. */
const WARM_UP = 3_000;
const ADDRESS = '/fe/recepcion/api/ecf';

const signer = certificate();
const signerKey = createPublicKey(signer.certificate.privateKey);
const data = Buffer.alloc(400, 'x');
const signature = sign('sha256', data, signer.certificate.privateKey);
const rawSign = promisify(sign) as (algorithm: string, data: Buffer, key: KeyObject) => Promise<Buffer>;
const rawVerify = promisify(verify) as (
  algorithm: string,
  data: Buffer,
  key: KeyObject,
  signature: Buffer,
) => Promise<boolean>;
const now = new Date();
const today = formatDocumentDate(toCalendarDate(now));

/** A signed e-CF of a provider, as it arrives. */
async function signedDocument(sequence: number, lines: number, buyer: string): Promise<string> {
  const json = invoice(encfOf(sequence), lines, { issuer: PROVIDER, buyer, date: today }) as {
    ECF: Record<string, unknown>;
  };
  json.ECF.FechaHoraFirma = formatSignatureDateTime(now);
  const { tree } = checkJson(json);
  return (await signXml(writeXml(tree as never), signer.certificate)).xml;
}

if (PARTS.has('engine')) await engine();
if (PARTS.has('senders') || PARTS.has('slow') || PARTS.has('hostile')) await deployed();

/** The other parts measure the deployment in the form that users run. */
async function deployed(): Promise<void> {
  const folder = benchFolder();
  const standalone = await startDeploymentProcess('standalone', folder, {
    LOG_LEVEL: 'warn',
    MAX_STORED_BYTES_PER_SENDER: String(64 * 1024 ** 3),
    MAX_STORED_BYTES_FROM_STRANGERS: String(64 * 1024 ** 3),
  });
  try {
    await overHttp(standalone);
  } finally {
    await standalone.end('SIGTERM');
  }
}

async function engine(): Promise<void> {
  const bytes = Buffer.from(await signedDocument(1, 10, '188888885'));
  const options = { now, trust: trustCheck({ issuers: null }), maxBytes: 10 * 1024 * 1024 };
  const facts = { issuerRnc: PROVIDER, buyerRnc: '188888885', encf: encfOf(1), motive: null, at: now };
  const receive = async (): Promise<void> => {
    const validated = validateDocument(bytes, options);
    if (validated.motive !== null) throw new Error(validated.particulars);
    await signAcknowledgement(facts, signer.certificate);
  };
  const raw = (): void => {
    sign('sha256', data, signer.certificate.privateKey);
    verify('sha256', data, signerKey, signature);
  };
  heading(`verify, check, signed acknowledgement; without the store; ${bytes.length} bytes`);
  await inTurn(receive)(WARM_UP);
  reportComparison(
    'receive',
    'one raw RSA signature and one raw verification',
    await compare(inTurn(receive), repeat(raw), 300, ROUNDS),
    '≤ 4',
  );
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ratios.push((await processorTime(inTurn(receive), 300)) / (await processorTime(repeat(raw), 300)));
  }
  line(`the same in processor time, which other programs on the machine disturb less: ${median(ratios).toFixed(2)} ×`);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push(1_000 / (await seconds(together(receive, 8), 1_000)));
  line(`both cores together: ${median(rates).toFixed(0)} documents/s (median of ${ROUNDS} rounds)`);
}

/** One raw signature and one raw verification off the main thread, so that several keep all cores busy. */
async function rawPair(): Promise<void> {
  await rawSign('sha256', data, signer.certificate.privateKey);
  await rawVerify('sha256', data, signerKey, signature);
}

/** Processor time that a task takes for `count` repetitions, all threads together. */
async function processorTime(task: Task, count: number): Promise<number> {
  const before = process.cpuUsage();
  await task(count);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function overHttp({ demo, child }: DeploymentProcess): Promise<void> {
  const program = child.pid as number;
  const postgres = childCalled(program, 'postgres');
  const load = createLoad(demo.base_url, (status, text) => status === 200 && text.includes('<Estado>0</Estado>'));
  const template = await signedDocument(0, 10, demo.buyer_rnc);
  let sequence = 0;
  const calls = async (count: number): Promise<Call[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        sequence += 1;
        return upload(await signedDocument(sequence, 10, demo.buyer_rnc));
      }),
    );

  if (PARTS.has('senders')) {
    heading(
      `POST ${ADDRESS}, ${template.length} bytes, document, acknowledgement, row and event durable before the answer`,
    );
    for (const senders of SENDERS) await measureSenders(load, calls, senders, { program, postgres });
  }
  if (PARTS.has('slow')) await slowSenders(demo.base_url, load, calls, program);
  if (PARTS.has('hostile')) {
    const fresh = (lines: number) => signedDocument(++sequence, lines, demo.buyer_rnc);
    await hostileInputs({
      url: `${demo.base_url}${ADDRESS}`,
      program,
      fresh,
      foreign: certificate().certificate.certificate,
    });
  }
  load.close();
}

async function measureSenders(
  load: Load,
  calls: (count: number) => Promise<Call[]>,
  senders: number,
  processes: { program: number; postgres: number },
): Promise<void> {
  const count = senders === 1 ? 150 : 800;
  const rates: number[] = [];
  const latencies: number[] = [];
  const cpu: number[] = [];
  const ratios: { time: number; rate: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const batch = await calls(count);
    const before = processorSeconds(processes.program) + processorSecondsOfTree(processes.postgres);
    const result = await load.round(batch, senders);
    await delay(300);
    if (round === 0) continue;
    rates.push(result.calls / result.seconds);
    latencies.push(...result.latencies);
    const after = processorSeconds(processes.program) + processorSecondsOfTree(processes.postgres);
    cpu.push(((after - before) * 1000) / count);
    const pairTime = (await processorTime(together(rawPair, 8), count)) / 1e6 / count;
    const pairRate = count / (await seconds(together(rawPair, 8), count));
    ratios.push({ time: (after - before) / count / pairTime, rate: result.calls / result.seconds / pairRate });
  }
  line(
    `${senders} sender${senders === 1 ? '' : 's'}: ${median(rates).toFixed(0)} documents/s; p50 ${ms(percentile(latencies, 0.5))}, ` +
      `p99 ${ms(percentile(latencies, 0.99))}; ${median(cpu).toFixed(2)} ms of processor time a document (service and database); ${ROUNDS} rounds of ${count}`,
  );
  const of = (what: 'time' | 'rate') => ratios.map((one) => one[what]);
  line(
    `validated, signed and stored: ${median(of('time')).toFixed(1)} × the processor time of one raw signature and one raw verification ` +
      `(${Math.min(...of('time')).toFixed(1)} to ${Math.max(...of('time')).toFixed(1)}), ` +
      `${median(of('rate')).toFixed(2)} × the pairs a second that both cores make`,
  );
}

async function slowSenders(
  url: string,
  load: Load,
  calls: (count: number) => Promise<Call[]>,
  program: number,
): Promise<void> {
  heading(`${SLOW} senders trickle ten bytes a second while 8 others deliver`);
  const before = residentBytes(program);
  const calm = await load.round(await calls(400), 8);
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const opened = performance.now();
  let cut = 0;
  for (let i = 0; i < SLOW; i += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).on('close', () => cut++);
    socket.write(`POST ${ADDRESS} HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 100000\r\n\r\n`);
    sockets.push(socket);
  }
  const trickle = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('<a>1234567');
  }, 1_000);
  await delay(1_500);
  const batch = await calls(400);
  const disturbed = await load.round(batch, 8);
  const during = residentBytes(program);
  while (cut < SLOW && performance.now() - opened < 60_000) await delay(200);
  clearInterval(trickle);
  line(
    `others: ${(calm.calls / calm.seconds).toFixed(0)} documents/s without them, ${(disturbed.calls / disturbed.seconds).toFixed(0)} with them; ` +
      `p99 ${ms(percentile(calm.latencies, 0.99))} and ${ms(percentile(disturbed.latencies, 0.99))}`,
  );
  line(
    `memory: ${mb(before)} before, ${mb(during)} during; ${cut} of ${SLOW} were cut off within ${((performance.now() - opened) / 1000).toFixed(0)} s`,
  );
  for (const socket of sockets) socket.destroy();
}

function upload(xml: string): Call {
  const boundary = 'document-of-the-benchmark';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="xml"; filename="${PROVIDER}.xml"\r\nContent-Type: text/xml\r\n\r\n`;
  return {
    path: ADDRESS,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.from(`${head}${xml}\r\n--${boundary}--\r\n`),
  };
}

function ms(value: number): string {
  return `${(value * 1000).toFixed(1)} ms`;
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
