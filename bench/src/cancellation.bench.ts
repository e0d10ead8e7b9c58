// A cancellation of many ranges over HTTP on the standalone deployment: time of the answer (with the simulator's own time), of
// reading the record and of its XML, and the additional memory of the gateway's process. The reference is a cancellation of one
// range in the same run.
//
// BENCH_LINES (10), BENCH_RANGES (10000): ranges a line; BENCH_ROUNDS (3).
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder } from './harness/ending.js';
import { median, seconds } from './harness/measure.js';
import { peakBytes, residentBytes } from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { startSubject } from './subject/subject.js';

const LINES = Number(process.env.BENCH_LINES ?? 10);
const RANGES = Number(process.env.BENCH_RANGES ?? 10_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'].slice(0, LINES);
/** Numbers up to this one belong to the deployment's own first invoices. */
const FIRST = 1_000;
const MIB = 1024 * 1024;

interface Round {
  post: number;
  read: number;
  xml: number;
  bytes: number;
}

const folder = benchFolder();
const subject = await startSubject(folder, formatDocumentDate(toCalendarDate(new Date())), 10);
const gateway = subject.standalone.child.pid as number;
try {
  const { base_url, api_key, issuer_rnc } = subject.standalone.demo;
  const headers = { 'x-api-key': api_key, 'content-type': 'application/json' };
  let next = FIRST;

  /** Every second number, so that no two ranges are adjacent. */
  const request = (types: readonly string[], ranges: number): string => {
    const first = next;
    next += 2 * ranges;
    const number = (type: string, at: number) => `E${type}${String(first + 2 * at).padStart(10, '0')}`;
    const detail_lines = types.map((ecf_type) => ({
      ecf_type,
      sequence_ranges: Array.from({ length: ranges }, (_, at) => ({
        encf_desde: number(ecf_type, at),
        encf_hasta: number(ecf_type, at),
      })),
    }));
    return JSON.stringify({ issuer_rnc, authority_environment: 'TesteCF', detail_lines });
  };
  const round = async (body: string): Promise<Round> => {
    let made: { id: number; authority_status: string } | undefined;
    let bytes = 0;
    const post = await seconds(async () => {
      const answer = await fetch(`${base_url}/anecf`, { method: 'POST', headers, body });
      if (answer.status !== 201) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 300)}`);
      made = (await answer.json()) as typeof made;
    }, 1);
    if (made?.authority_status !== 'Aceptado') throw new Error(`the cancellation is ${made?.authority_status}`);
    const { id } = made;
    const read = await seconds(async () => (await fetch(`${base_url}/anecf/${id}`, { headers })).arrayBuffer(), 1);
    const xml = await seconds(async () => {
      bytes = (await (await fetch(`${base_url}/anecf/${id}/xml`, { headers })).arrayBuffer()).byteLength;
    }, 1);
    return { post, read, xml, bytes };
  };

  const small: Round[] = [];
  for (let at = 0; at < 10; at += 1) small.push(await round(request(['31'], 1)));
  const before = residentBytes(gateway);
  const large: Round[] = [];
  for (let at = 0; at < ROUNDS; at += 1) large.push(await round(request(TYPES, RANGES)));

  heading(`POST /anecf: ${TYPES.length} × ${RANGES} ranges, ${((large[0]?.bytes ?? 0) / MIB).toFixed(1)} MiB of XML`);
  for (const [name, of] of [
    ['signed, sent, answered', ({ post }: Round) => post],
    ['GET /anecf/{id}', ({ read }: Round) => read],
    ['GET /anecf/{id}/xml', ({ xml }: Round) => xml],
  ] as const) {
    const [many, one] = [median(large.map(of)), median(small.map(of))];
    const times = `${(many * 1e3).toFixed(0)} ms against ${(one * 1e3).toFixed(1)} ms`;
    line(`${name}: ${(many / one).toFixed(1)} × that of one range; ${times}`);
  }
  const most = peakBytes(gateway);
  line(`memory at most: ${((most - before) / MIB).toFixed(0)} MiB above the ${(before / MIB).toFixed(0)} MiB before`);
} finally {
  await subject.standalone.end('SIGTERM');
}
