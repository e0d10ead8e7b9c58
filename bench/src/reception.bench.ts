// Receiving an e-CF: judging and acknowledging against one raw RSA-2048 signature plus one raw verification; then over
// HTTP through the public door of the standalone deployment, with everything stored; slow senders; hostile inputs.
//
// BENCH_ROUNDS (7), BENCH_SENDERS (1,64), BENCH_SLOW (500) and BENCH_HOSTILE (1; 0 leaves them out);
// BENCH_ENGINE=1 stops after the first part.
import { createPublicKey, sign, verify } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { judgeDocument, signAcknowledgement, trustCheck } from '@ecf/reception';
import { HOSTILE } from '@ecf/reception/hostile-inputs';
import { type StandaloneProcess, startStandaloneProcess } from '@ecf/standalone/process';
import { signXml } from '@ecf/xml-signing';
import { benchFolder } from './ending.js';
import { type Call, createLoad, type Load } from './load.js';
import { compare, inTurn, median, percentile, repeat, seconds, type Task, together } from './measure.js';
import {
  childCalled,
  forgetPeak,
  peakBytes,
  processorSeconds,
  processorSecondsOfTree,
  residentBytes,
} from './processes.js';
import { heading, line, reportComparison } from './report.js';
import { certificate, encfOf, invoice } from './sample.js';

const TINY = '500,000 chunks of one byte';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SENDERS = (process.env.BENCH_SENDERS ?? '1,64').split(',').map(Number);
const SLOW = Number(process.env.BENCH_SLOW ?? 500);
const PROVIDER = '131880738';
/** What a receiver takes at most by default. */
const LARGEST = 10 * 1024 * 1024;
/** Documents until the compiler has done its work: a receiver runs for weeks. */
const WARM_UP = 3_000;
const ADDRESS = '/fe/recepcion/api/ecf';

const signer = certificate();
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

await engine();
if (process.env.BENCH_ENGINE !== '1') await deployed();

/** The rest is measured on the deployment as its users run it. */
async function deployed(): Promise<void> {
  const folder = benchFolder();
  const standalone = await startStandaloneProcess(folder, { LOG_LEVEL: 'warn' });
  try {
    await overHttp(standalone);
  } finally {
    await standalone.end('SIGTERM');
  }
}

async function engine(): Promise<void> {
  const bytes = Buffer.from(await signedDocument(1, 10, '188888885'));
  const options = { now, trust: trustCheck(null), maxBytes: 10 * 1024 * 1024 };
  const key = createPublicKey(signer.certificate.privateKey);
  const data = Buffer.alloc(400, 'x');
  const signature = sign('sha256', data, signer.certificate.privateKey);
  const facts = { issuerRnc: PROVIDER, buyerRnc: '188888885', encf: encfOf(1), motive: null, at: now };
  const receive = async (): Promise<void> => {
    const judged = judgeDocument(bytes, options);
    if (judged.motive !== null) throw new Error(judged.particulars);
    await signAcknowledgement(facts, signer.certificate);
  };
  const raw = (): void => {
    sign('sha256', data, signer.certificate.privateKey);
    verify('sha256', data, key, signature);
  };
  heading(`verify, check, signed acknowledgement; without the store; ${bytes.length} bytes`);
  await inTurn(receive)(WARM_UP);
  reportComparison(
    'receive',
    'one raw RSA signature and one raw verification',
    await compare(inTurn(receive), repeat(raw), 300, ROUNDS),
    '≤ 2.5',
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

/** Processor time that a task takes for `count` repetitions, all threads together. */
async function processorTime(task: Task, count: number): Promise<number> {
  const before = process.cpuUsage();
  await task(count);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function overHttp({ demo, child }: StandaloneProcess): Promise<void> {
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

  heading(
    `POST ${ADDRESS}, ${template.length} bytes, document, acknowledgement, row and event durable before the answer`,
  );
  for (const senders of SENDERS) await measureSenders(load, calls, senders, { program, postgres });
  await slowSenders(demo.base_url, load, calls, program);
  if (process.env.BENCH_HOSTILE !== '0') await hostile(demo.base_url, demo.buyer_rnc, program);
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
  }
  line(
    `${senders} sender${senders === 1 ? '' : 's'}: ${median(rates).toFixed(0)} documents/s; p50 ${ms(percentile(latencies, 0.5))}, ` +
      `p99 ${ms(percentile(latencies, 0.99))}; ${median(cpu).toFixed(2)} ms of processor time a document (service and database); ${ROUNDS} rounds of ${count}`,
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

/** An input, and what is sent of it. */
interface Input {
  readonly name: string;
  readonly headers: Record<string, string>;
  body(): Promise<Buffer>;
}

/** What one input came to: time of its answer, most memory of the program meanwhile, longest wait of a genuine sender. */
interface Taken {
  readonly milliseconds: number;
  readonly peak: number;
  readonly othersWaited: number;
  readonly answer: string;
}

/** Each hostile input against a genuine document of the same size. */
async function hostile(url: string, buyer: string, program: number): Promise<void> {
  heading('hostile inputs against a genuine document of as many bytes; a genuine sender goes on meanwhile');
  const foreign = certificate().certificate.certificate;
  let sequence = 900_000_000;
  const fresh = (lines: number) => signedDocument(++sequence, lines, buyer);
  const perLine = ((await fresh(101)).length - (await fresh(1)).length) / 100;
  const inputs: Input[] = [
    ...HOSTILE.map((input) => ({
      name: input.name,
      headers: input.headers ?? {},
      body: async () => Buffer.from(input.make(await fresh(10), foreign)),
    })),
    {
      name: '2,000,000 empty elements',
      headers: {},
      body: async () => Buffer.from(`<ECF>${'<a/>'.repeat(2_000_000)}</ECF>`),
    },
    { name: TINY, headers: {}, body: async () => Buffer.alloc(500_000, 0x20) },
  ];

  /** A genuine document of that size, at least of one line and at most of a thousand, blanks between its elements. */
  async function genuine(bytes: number): Promise<Buffer> {
    const xml = await fresh(Math.min(1_000, Math.max(1, Math.floor((bytes - 3_500) / perLine))));
    return Buffer.from(xml.replace('<DetallesItems>', `${' '.repeat(Math.max(0, bytes - xml.length))}<DetallesItems>`));
  }

  async function measure(post: () => Promise<Answered>): Promise<Taken> {
    forgetPeak(program);
    let waiting = true;
    let othersWaited = 0;
    const others = (async () => {
      while (waiting) {
        const began = performance.now();
        await send(url, Buffer.from(await fresh(10)), {});
        othersWaited = Math.max(othersWaited, performance.now() - began);
      }
    })();
    const began = performance.now();
    const { status, text } = await post();
    const milliseconds = performance.now() - began;
    waiting = false;
    await others;
    return { milliseconds, peak: peakBytes(program), othersWaited, answer: answerOf(status, text) };
  }

  line('input → answer | bytes | ms | × genuine | MB peak (genuine) | others waited ms');
  for (const { name, headers, body } of inputs) {
    const bytes = await body();
    const fair = await genuine(Math.min(bytes.length, LARGEST));
    await send(url, await genuine(fair.length), {});
    const reference = await measure(() => send(url, fair, {}));
    const taken = await measure(() => (name === TINY ? sendTiny(url, bytes) : send(url, bytes, headers)));
    const ratio = taken.milliseconds / reference.milliseconds;
    line(
      `${name} → ${taken.answer} | ${bytes.length} | ${taken.milliseconds.toFixed(0)} | ${ratio.toFixed(2)} | ` +
        `${mb(taken.peak)} (${mb(reference.peak)}) | ${taken.othersWaited.toFixed(0)}`,
    );
    if (reference.answer !== '200 Estado 0') line(`  the genuine document got ${reference.answer}`);
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function send(url: string, body: Buffer, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(`${url}${ADDRESS}`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'text/xml', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

/** The same body in chunks of one byte, as fast as the connection takes them. */
function sendTiny(url: string, body: Buffer): Promise<Answered> {
  const { hostname, port } = new URL(url);
  const head = `POST ${ADDRESS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const chunks = Buffer.concat(Array.from(body, (byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])));
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    // What is still being written when the answer comes is lost.
    socket.on('error', () => undefined).once('close', () => resolve({ status: Number(text.slice(9, 12)), text }));
    socket.write(Buffer.concat([Buffer.from(head), chunks, Buffer.from('0\r\n\r\n')]));
  });
}

function answerOf(status: number, text: string): string {
  const motive = /<CodigoMotivoNoRecibido>(\d)/.exec(text)?.[1];
  if (status === 200) return motive === undefined ? '200 Estado 0' : `200 motive ${motive}`;
  const type = /"type":"([^"]+)"/.exec(text)?.[1] ?? /"code":"([^"]+)"/.exec(text)?.[1] ?? '';
  return `${status} ${type}`;
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
