import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import { HOSTILE } from '@ecf/test-support/hostile-inputs';
import { median } from '../harness/measure.js';
import { forgetPeak, peakBytes, processorSeconds, residentBytes } from '../harness/processes.js';
import { heading, line } from '../harness/report.js';

/** Nearly the largest body that a receiver accepts by default. */
const LARGEST = 10_400_000;
/** Smaller inputs take less than one tick of processor time, so the clock compares them. */
const SMALL = 256 * 1024;
/** How often an input is sent; the median counts. */
const TIMES = { small: 5, large: 3 };
const MEGABYTE = Buffer.alloc(1_000_000, 0x20);

interface HostileBench {
  /** Address that receives the documents. */
  readonly url: string;
  /** Process of the deployment. */
  readonly program: number;
  /** A genuine document with this number of lines; each call makes another one. */
  readonly fresh: (lines: number) => Promise<string>;
  /** Certificate of another holder, base64. */
  readonly foreign: string;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** A hostile input; each send makes a new body of the same size. */
interface Input {
  readonly name: string;
  make(): Promise<{ readonly bytes: number; readonly post: () => Promise<Answered> }>;
}

/** The result of one input: time of its answer, processor time and memory of the program, longest wait of a genuine sender. */
interface Taken {
  readonly milliseconds: number;
  readonly processorMs: number;
  /** Peak memory less the memory before the first byte. */
  readonly more: number;
  readonly peak: number;
  readonly othersWaited: number;
  readonly answer: string;
}

/** Each hostile input against a genuine document of the same size, as a table. */
export async function hostileInputs({ url, program, fresh, foreign }: HostileBench): Promise<void> {
  const inputs: Input[] = [
    ...HOSTILE.map(({ name, headers = {}, make }) => ({
      name,
      async make() {
        const body = Buffer.from(make(await fresh(10), foreign));
        return { bytes: body.length, post: () => send(url, body, headers) };
      },
    })),
    { name: '100 MB, announced', make: async () => ({ bytes: 100_000_000, post: () => sendMany(url, true) }) },
    { name: '100 MB in chunks', make: async () => ({ bytes: 100_000_000, post: () => sendMany(url, false) }) },
    { name: '500,000 chunks of one byte', make: async () => ({ bytes: 500_000, post: () => sendTiny(url, 500_000) }) },
  ];
  const perLine = ((await fresh(101)).length - (await fresh(1)).length) / 100;

  /** A genuine document of that size with 1 to 1,000 lines and blanks between its elements. */
  async function genuine(bytes: number): Promise<Buffer> {
    const xml = await fresh(Math.min(1_000, Math.max(1, Math.floor((bytes - 3_500) / perLine))));
    return Buffer.from(xml.replace('<DetallesItems>', `${' '.repeat(Math.max(0, bytes - xml.length))}<DetallesItems>`));
  }

  async function measure(post: () => Promise<Answered>, besideOthers: boolean): Promise<Taken> {
    const before = residentBytes(program);
    const worked = processorSeconds(program);
    forgetPeak(program);
    let waiting = besideOthers;
    let othersWaited = 0;
    const others = (async () => {
      while (waiting) {
        const document = Buffer.from(await fresh(10));
        const began = performance.now();
        await send(url, document, {});
        othersWaited = Math.max(othersWaited, performance.now() - began);
      }
    })();
    const began = performance.now();
    const { status, text } = await post();
    const milliseconds = performance.now() - began;
    waiting = false;
    await others;
    const processorMs = (processorSeconds(program) - worked) * 1_000;
    const peak = peakBytes(program);
    return { milliseconds, processorMs, more: peak - before, peak, othersWaited, answer: answerOf(status, text) };
  }

  heading('hostile inputs against a genuine document of as many bytes; once with a genuine sender beside');
  for (let i = 0; i < 50; i++) await send(url, await genuine(8_000), {});
  await send(url, await genuine(LARGEST), {});
  const loads: number[] = [];
  let highest = 0;
  line('| Input | Answer | Bytes | ms | × genuine | MB more (genuine) | others waited, ms (genuine) |');
  line('|---|---|---|---|---|---|---|');
  for (const { name, make } of inputs) {
    const small = (await make()).bytes < SMALL;
    const [hostile, fair]: [Taken[], Taken[]] = [[], []];
    let bytes = 0;
    for (let i = 0; i <= (small ? TIMES.small : TIMES.large); i++) {
      // The last send runs beside genuine senders; the other figures do not include their cost.
      const beside = i === (small ? TIMES.small : TIMES.large);
      const input = await make();
      bytes = input.bytes;
      const body = await genuine(Math.min(bytes, LARGEST));
      fair.push(await measure(() => send(url, body, {}), beside));
      hostile.push(await measure(input.post, beside));
    }
    const [it, reference] = [together(hostile), together(fair)];
    highest = Math.max(highest, it.peak);
    loads.push(loadavg()[0] ?? 0);
    const ratio = small ? it.milliseconds / reference.milliseconds : it.processorMs / reference.processorMs;
    line(
      `| ${name} | ${it.answer} | ${bytes} | ${it.milliseconds.toFixed(0)} | ${ratio.toFixed(2)} | ` +
        `${mb(it.more)} (${mb(reference.more)}) | ${it.othersWaited.toFixed(0)} (${reference.othersWaited.toFixed(0)}) |`,
    );
    if (reference.answer !== '200 Estado 0') throw new Error(`the genuine document got ${reference.answer}`);
  }
  line(
    `${inputs.length} inputs; largest resident set of the program ${mb(highest)} MB; ` +
      `load of the machine ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`,
  );
}

/** Runs of one input; the last ran beside other senders. */
function together(runs: readonly Taken[]): Taken {
  const alone = runs.slice(0, -1);
  return {
    milliseconds: median(alone.map(({ milliseconds }) => milliseconds)),
    processorMs: median(alone.map(({ processorMs }) => processorMs)),
    more: Math.max(...alone.map(({ more }) => more)),
    peak: Math.max(...runs.map(({ peak }) => peak)),
    othersWaited: runs.at(-1)?.othersWaited ?? 0,
    answer: [...new Set(runs.map(({ answer }) => answer))].join(', '),
  };
}

async function send(url: string, body: Buffer, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'text/xml', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

/** Sends the body in chunks of one byte, as fast as the connection accepts them. */
function sendTiny(url: string, bytes: number): Promise<Answered> {
  const chunks = Buffer.concat([Buffer.from('1\r\n \r\n'.repeat(bytes)), Buffer.from('0\r\n\r\n')]);
  return sendRaw(url, 'Transfer-Encoding: chunked', (socket) => socket.write(chunks));
}

/** Sends a hundred megabytes, until an answer comes. */
function sendMany(url: string, announced: boolean): Promise<Answered> {
  const piece = announced
    ? MEGABYTE
    : Buffer.concat([Buffer.from(`${MEGABYTE.length.toString(16)}\r\n`), MEGABYTE, Buffer.from('\r\n')]);
  return sendRaw(url, announced ? 'Content-Length: 100000000' : 'Transfer-Encoding: chunked', (socket) => {
    let left = 100;
    const more = () => {
      while (left-- > 0) if (!socket.write(piece)) return void socket.once('drain', more);
    };
    more();
  });
}

function sendRaw(url: string, header: string, write: (socket: Socket) => void): Promise<Answered> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
      if (/"request_id"/.test(text)) socket.destroy();
    });
    // The socket drops the rest of the body when the answer comes.
    socket.on('error', () => undefined).once('close', () => resolve({ status: Number(text.slice(9, 12)), text }));
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`);
    write(socket);
  });
}

function answerOf(status: number, text: string): string {
  const motive = /<CodigoMotivoNoRecibido>(\d)/.exec(text)?.[1];
  if (status === 200) return motive === undefined ? '200 Estado 0' : `200 motive ${motive}`;
  const type = /"type":"([^"]+)"/.exec(text)?.[1] ?? /"code":"([^"]+)"/.exec(text)?.[1] ?? '';
  return `${status} ${type}`;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
