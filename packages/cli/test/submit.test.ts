import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openBatches } from '../src/batches/batches.js';
import { ecf, rows } from './ecf.js';
import { useGateway } from './gateway.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-submit-'));
const input = path.join(folder, 'invoices.ndjson');

const TOTAL = 3;
const result = (line: number) => `${JSON.stringify({ line, status: 'Aceptado' })}\n`;
const BATCH = JSON.stringify({ total: TOTAL, pending: 0, in_process: 0, accepted: TOTAL, conditional: 0 });

let calls: string[] = [];
let keys: (string | undefined)[] = [];
/** Paths whose next answers are cut off, in order. */
let breaks: string[] = [];
/** The results that come before their answer is cut off. */
let whole = 1;
/** The statuses of the next answers; 408 has Retry-After. */
let refusals: number[] = [];
/** What a proxy, or a gateway of another version, answers to everything. */
let other: { status: number; body: string; headers?: Record<string, string> } | null = null;

/** A gateway whose batch is decided. */
const gateway = http.createServer((req, res) => {
  const url = req.url ?? '';
  calls.push(`${req.method} ${url}`);
  if (req.method === 'POST') keys.push(req.headers['idempotency-key'] as string | undefined);
  req.resume().on('end', () => {
    const status = refusals.shift();
    if (status !== undefined)
      return res.writeHead(status, status === 408 ? { 'retry-after': '1' } : {}).end('{"message":"Send it again."}');
    if (other !== null) return res.writeHead(other.status, other.headers).end(other.body);
    const breaksOff = breaks[0] === url.split('?')[0] && breaks.shift() !== undefined;
    const after = Number(new URL(url, 'http://x').searchParams.get('after') ?? 0);
    const lines = Array.from({ length: TOTAL - after }, (_, index) => result(after + index + 1));
    const text = url.includes('/results')
      ? lines.slice(0, breaksOff ? whole : TOTAL).join('')
      : req.method === 'POST'
        ? '{"batch_id":"7"}'
        : BATCH;
    if (!breaksOff) return res.end(text);
    res.write(url.includes('/results') ? `${text}{"line` : text.slice(0, 5), () => setTimeout(() => res.destroy(), 20));
  });
});

useGateway(gateway, 'ECF_API_KEY');
beforeAll(() => writeFileSync(input, '{"ECF":{}}\n'.repeat(TOTAL)));
beforeEach(() => {
  calls = [];
  keys = [];
  breaks = [];
  whole = 1;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const submit = (...more: string[]) => ecf(['submit', input, '--env', 'TesteCF', ...more]);

it('requests the rest of an answer that is cut off, after the last result that came', async () => {
  breaks = ['/batches', '/batches/7', '/batches/7/results', '/batches/7/results'];
  const { code, stdout, stderr } = await submit();
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^(ecf submit: the connection was cut off; next try in \d+ s\n){2}(3 documents, 3 accepted\n)+$/,
    ),
  ]);
  expect(rows(stdout).map(({ line }) => line)).toEqual([1, 2, 3]);
  expect(calls).toEqual([
    'POST /batches',
    'POST /batches',
    'GET /batches/7',
    'GET /batches/7',
    'GET /batches/7/results?after=0',
    'GET /batches/7/results?after=1',
    'GET /batches/7/results?after=2',
  ]);
});

it.each([400, 429, 503])('repeats an answer with Retry-After, says so, and ends with %s without it', async (status) => {
  refusals = [408, status];
  const { code, stderr } = await submit();
  expect([code, stderr]).toEqual([2, expect.stringContaining(`answered ${status}: Send it again.`)]);
  expect(stderr).toContain('the gateway answered 408; next try in 1 s');
  expect(calls).toEqual(['POST /batches', 'POST /batches']);
});

it('has warnings refused with --strict, in its own batch', async () => {
  await submit();
  await submit('--strict');
  const sent = calls.filter((call) => call.startsWith('POST'));
  expect(sent).toEqual(['POST /batches', 'POST /batches?warnings=refuse']);
  expect(new Set(keys).size).toBe(2);
});

it('gives up within 30 seconds if the first call cannot connect, and says before that it tries again', async () => {
  const said: string[] = [];
  let time = 0;
  const batches = openBatches(undefined, { ECF_URL: 'http://127.0.0.1:1', ECF_API_KEY: 'k' }, 'TesteCF', {
    strict: false,
    say: (text) => said.push(text),
    now: () => time,
    sleep: async (ms) => {
      time += ms;
    },
  });
  await expect(batches.create('key', Buffer.from('{}'))).rejects.toThrow('http://127.0.0.1:1 cannot be reached');
  expect(time).toBeLessThan(30_000);
  expect(said[0]).toBe('ecf submit: the gateway at http://127.0.0.1:1 cannot be reached; next try in 1 s');
});

it('ends with 2 before it sends anything if the results cannot be written', async () => {
  const { code, stderr } = await submit('--results', path.join(folder, 'absent', 'results.ndjson'));
  expect([code, calls]).toEqual([2, []]);
  expect(stderr).toMatch(/results\.ndjson cannot be written/);
});

it.each([
  ['a folder', folder],
  ['absent', path.join(folder, 'absent')],
])('ends with 2 if the input is %s', async (_what, file) => {
  const { code, stderr } = await ecf(['submit', file, '--env', 'TesteCF']);
  expect([code, stderr, calls]).toEqual([2, expect.stringContaining(file), []]);
});

// A disk that is always full exists on Linux only.
const itOnLinux = existsSync('/dev/full') ? it : it.skip;

itOnLinux('ends with 2 if the disk of the results is full', async () => {
  const { code, stderr } = await submit('--results', '/dev/full');
  expect([code, stderr]).toEqual([2, expect.stringContaining('/dev/full cannot be written')]);
});

it('writes the results to a file', async () => {
  const file = path.join(folder, 'results.ndjson');
  expect(await submit('--results', file)).toMatchObject({ code: 0, stdout: '' });
  expect(rows(readFileSync(file, 'utf8')).map(({ line }) => line)).toEqual([1, 2, 3]);
});

it('ends with 2 if the results are cut off before any line came', async () => {
  breaks = ['/batches/7/results'];
  whole = 0;
  const { code, stderr } = await submit();
  expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be reached. Repeat the command')]);
});

it('names the problems of a file in CSV and sends nothing', async () => {
  const sales = path.join(folder, 'sales.csv');
  writeFileSync(sales, 'reference,TipoeCF,Precio\n1,31,5\n');
  const { code, stderr } = await ecf(['submit', sales, '--env', 'TesteCF']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/Missing columns: FechaEmision, .* Unknown columns: Precio\./),
  ]);
  expect(calls).toEqual([]);
});

it('ends with 2 if ECF_URL is not an address', async () => {
  const url = process.env.ECF_URL;
  try {
    process.env.ECF_URL = 'palma';
    expect(await submit()).toMatchObject({ code: 2, stderr: expect.stringContaining('not an address') });
  } finally {
    process.env.ECF_URL = url;
  }
});

const PAGE = '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

it.each([
  [
    'the error page of a proxy',
    { status: 502, body: PAGE },
    /a proxy answered 502 with a web page \("502 Bad Gateway"\)/,
  ],
  ['a page with status 200', { status: 200, body: PAGE }, /the answer is a web page \("502 Bad Gateway"\).*ECF_URL/],
  ['text with status 200', { status: 200, body: 'hello' }, /the answer is not JSON.*ECF_URL/],
  [
    'a redirect',
    { status: 302, body: '', headers: { location: 'https://login.example/' } },
    /a redirect to https:\/\/login\.example\/\. Set ECF_URL/,
  ],
  ['a status without a body', { status: 404, body: '' }, /the gateway answered 404: it gives no reason/],
  ['another version', { status: 200, body: '{"id":"7"}' }, /answer has no batch_id: its version differs/],
])('ends with 2 and a sentence if %s answers', async (_what, answer, says) => {
  try {
    other = answer;
    const { code, stdout, stderr } = await submit();
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)]);
    expect(stderr).not.toContain('<');
  } finally {
    other = null;
  }
});
