// Documents of years, in 120 monthly partitions: what takes longer than with 100,000 documents of the last months?
//
// Settings: BENCH_ROWS (1000000), BENCH_EVERY (1), BENCH_PARTS (emission,query), BENCH_ROUNDS (3), BENCH_CALLS (300),
// BENCH_LOOK_UPS (20). The bench needs about 7 kB of disk for each document.
import path from 'node:path';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder } from './harness/ending.js';
import { median, percentile, seconds } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import type { KnownDocument } from './inputs/ten-years.js';
import { type Filled, startFilled } from './subject/filled.js';
import { STEPS, sizes } from './subject/grown-tables.js';

const SMALL = 100_000;
const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
/** Of how many documents one has its rows in `attempt` and `exchange`, where the disk does not hold them all. */
const EVERY = Number(process.env.BENCH_EVERY ?? 1);
const PARTS = (process.env.BENCH_PARTS ?? 'emission,query').split(',');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CALLS = Number(process.env.BENCH_CALLS ?? 300);
/** Blocks of look-ups after the first, which warms up, and look-ups of a block. */
const BLOCKS = 4;
const IN_BLOCK = Number(process.env.BENCH_LOOK_UPS ?? 20);
const CALLERS = 8;
const GOAL = 'goal ≤ 1.5';

const day = (before: number) => formatDocumentDate(toCalendarDate(new Date(Date.now() - before * 86_400_000)));
const since = (days: number) => ({ 'start-date': day(days), 'end-date': day(0) });
const BEGIN = new Date('2020-01-01');
const [DAY, MONTH, YEAR] = [{ 'start-date': day(1), 'end-date': day(1) }, since(30), since(365)];
const ALL = { 'start-date': formatDocumentDate(toCalendarDate(BEGIN)), 'end-date': day(0) };

type Question = readonly [
  name: string,
  part: string,
  path: (one: KnownDocument, cursor: string) => string,
  headers: Record<string, string>,
];
const QUESTIONS: readonly Question[] = [
  ['by eNCF', 'query', ({ encf }) => `/invoices/${encf}`, {}],
  ['by own reference', 'query', ({ reference }) => `/invoices/?reference=${reference}`, ALL],
  ['by trackId, first time', 'emission', ({ track_id }) => `/invoice-status/${track_id}`, {}],
  ['raw answers of the authority', 'emission', ({ encf }) => `/trackids/${encf}/raw`, {}],
  ['list, 200 newest', 'query', () => '/invoices/', YEAR],
  ['list, 200 newest of a month', 'query', () => '/invoices/?period=issued', MONTH],
  ['list, 200 newest of a type', 'query', () => '/invoices/?ecf_type=34', YEAR],
  ['list, 200 newest that were rejected', 'query', () => '/invoices/?status=Rechazado', YEAR],
  ['list, 200 newest of a buyer', 'query', () => '/invoices/?buyer_rnc=100000017', ALL],
  ['list, 200 after a cursor at the end', 'query', (_, cursor) => `/invoices/?cursor=${cursor}`, ALL],
  ['aggregate, yesterday', 'query', () => '/invoices/aggregate/', DAY],
  ['aggregate, 30 days', 'query', () => '/invoices/aggregate/', MONTH],
  ['aggregate, a year', 'query', () => '/invoices/aggregate/', YEAR],
  ['aggregate, all years', 'query', () => '/invoices/aggregate/', ALL],
];

const folder = benchFolder();
const all: Filled[] = [];
try {
  heading('Filling');
  // Long enough that events and idempotency keys expire.
  const months = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 4));
  const young = { from: months, rows: SMALL, every: 1, parts: PARTS };
  const old = { from: BEGIN, rows: ROWS, every: EVERY, partitions: 120, parts: PARTS };
  all.push(await startFilled(path.join(folder, 'young'), day(0), young));
  all.push(await startFilled(path.join(folder, 'old'), day(0), old));
  const [small, large] = all as [Filled, Filled];
  await disk(large);
  await submissions(small, large);
  await answers(small, large);
  await steps(small, large);
} finally {
  for (const filled of all) await filled.end();
}

async function disk({ emission, query, spread }: Filled): Promise<void> {
  heading(`Disk, ${ROWS.toLocaleString('en')} documents`);
  for (const [part, database] of Object.entries({ emission, query }).filter(([part]) => PARTS.includes(part)))
    for (const { name, bytes } of await sizes(database))
      line(`${part} ${name}: ${(bytes / spread.rows).toFixed(0)} bytes a document`);
}

/** Submissions of both in turn: rate, time until the verdict, and processor time with all background work. */
async function submissions(...both: [Filled, Filled]): Promise<void> {
  heading(`Submissions, ${CALLERS} callers, ${ROUNDS} rounds of ${CALLS}, the verdict in the answer`);
  const measured = both.map(() => ({ rate: [] as number[], p50: [] as number[], processor: [] as number[] }));
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [index, { subject, load }] of both.entries()) {
      const before = subject.processorSeconds();
      const { seconds: took, latencies } = await load.round(subject.nextCalls(CALLS), CALLERS);
      await subject.decided();
      if (round < 0) continue;
      measured[index]?.rate.push(CALLS / took);
      measured[index]?.p50.push(percentile(latencies, 0.5) * 1_000);
      measured[index]?.processor.push(((subject.processorSeconds() - before) / CALLS) * 1_000);
    }
  const [small, large] = measured as [(typeof measured)[number], (typeof measured)[number]];
  row(
    'documents a second, 1/x',
    small.rate.map((one) => 1_000 / one),
    large.rate.map((one) => 1_000 / one),
  );
  row('p50 until the verdict', small.p50, large.p50);
  row('processor time a document', small.processor, large.processor);
}

/** Look-ups, lists and aggregates over HTTP, each in turn at both. */
async function answers(...both: [Filled, Filled]): Promise<void> {
  heading('Answers over HTTP, one caller; look-ups of random documents');
  const cursors = await Promise.all(both.map(cursorAtTheEnd));
  for (const [name, , address, headers] of QUESTIONS.filter(([, part]) => PARTS.includes(part))) {
    const times: [number[], number[]] = [[], []];
    const processor: [number[], number[]] = [[], []];
    for (let block = -1; block < BLOCKS; block += 1)
      for (const [index, filled] of both.entries()) {
        const before = filled.subject.processorSeconds();
        for (const one of filled.known.slice((block + 1) * IN_BLOCK, (block + 2) * IN_BLOCK)) {
          const took = await seconds(() => ask(filled, address(one, cursors[index] as string), headers), 1);
          if (block >= 0) times[index]?.push(took * 1_000);
        }
        if (block >= 0) processor[index]?.push(((filled.subject.processorSeconds() - before) * 1_000) / IN_BLOCK);
      }
    row(name, ...times);
    row('  in processor time', ...processor);
  }
  const metrics = both.map(() => [] as number[]) as [number[], number[]];
  for (let round = 0; round < 10; round += 1)
    for (const [index, { subject }] of both.entries())
      metrics[index]?.push(
        (await seconds(async () => (await fetch(subject.standalone.demo.metrics_url)).text(), 1)) * 1_000,
      );
  row('metrics', ...metrics);
}

async function steps(...both: [Filled, Filled]): Promise<void> {
  heading('The tables themselves');
  for (const [name, step] of PARTS.flatMap((part) => Object.entries(STEPS[part] ?? {}))) {
    const [small, large] = [await step(both[0]), await step(both[1])];
    const each = small.thousands === null || large.thousands === null ? [1, 1] : [small.thousands, large.thousands];
    const unit =
      small.thousands === null
        ? ''
        : ` for each 1,000 of ${Math.round((large.thousands ?? 0) * 1_000).toLocaleString('en')} rows`;
    const [mine, other] = [small, large].map((one, index) => (one.seconds * 1_000) / (each[index] as number)) as [
      number,
      number,
    ];
    row(`${name}${unit}`, [mine], [other]);
  }
}

/** Prints medians of milliseconds and their ratio. */
function row(name: string, small: number[], large: number[]): void {
  const [one, other] = [median(small), median(large)];
  const high =
    small.length < 20 ? '' : `; p95 ${percentile(small, 0.95).toFixed(1)} and ${percentile(large, 0.95).toFixed(1)} ms`;
  line(`${name}: ${(other / one).toFixed(2)} × (${GOAL}); ${one.toFixed(2)} and ${other.toFixed(2)} ms${high}`);
}

async function cursorAtTheEnd(filled: Filled): Promise<string> {
  if (!PARTS.includes('query')) return '';
  const offset = Math.floor(filled.spread.rows / 2) - 300;
  return JSON.parse(await ask(filled, `/invoices/?limit=1&offset=${offset}`, ALL)).next_cursor;
}

async function ask({ subject, spread }: Filled, address: string, headers: Record<string, string>): Promise<string> {
  const { base_url, api_key } = subject.standalone.demo;
  const response = await fetch(`${base_url}${address}`, {
    headers: { 'x-api-key': api_key, 'rnc-issuing': spread.issuer, ...headers },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}: ${text.slice(0, 300)}`);
  return text;
}
