import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import * as approvals from '../src/commands/approvals.js';
import * as cancellations from '../src/commands/cancellations.js';
import * as deliveries from '../src/commands/deliveries.js';
import * as resolve from '../src/commands/resolve.js';
import { UsageError } from '../src/options.js';
import { useGateway } from './gateway.js';

const paths: string[] = [];
let pages: object[] = [];
const gateway = http.createServer((req, res) => {
  paths.push(req.url ?? '');
  res.setHeader('content-type', 'application/json').end(JSON.stringify(pages.shift()));
});

useGateway(gateway, 'ADMIN_TOKEN');
afterEach(() => {
  paths.length = 0;
});

/** The rows that a command prints as JSON. */
async function printed(
  command: typeof approvals | typeof cancellations | typeof deliveries | typeof resolve,
  values: Record<string, string | boolean>,
  words = ['list'],
) {
  let text = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const console = { stdin: process.stdin, stdout, stderr: stdout } as unknown as Parameters<typeof command.execute>[2];
  expect(await command.execute({ json: true, ...values }, words, console)).toBe(0);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

it.each([
  [cancellations, 'cancellations', '/admin/cancellations/doubtful?settled=true', { settled: true }],
  [approvals, 'approvals', '/admin/approvals/undecided?settled=false', {}],
  [approvals, 'approvals', '/admin/approvals/undecided?settled=false&undelivered=true', { undelivered: true }],
  [resolve, 'documents', '/admin/documents/alarmed?limit=1000', {}],
] as const)('lists continue to their last page, with the given filters: %#', async (command, name, address, values) => {
  pages = [
    { [name]: [{ id: 1 }, { id: 2 }].map((row) => ({ ...row, alarm: 'a' })), next: 2 },
    { [name]: [], next: 7 },
    { [name]: [{ id: 9, alarm: 'b' }], next: null },
  ];
  const rows = await printed(command, { ...values, env: 'CerteCF', issuer: '131000001' });
  expect(rows.map(({ id }) => id)).toEqual([1, 2, 9]);
  expect(paths).toEqual([0, 2, 7].map((after) => `${address}&after=${after}&env=CerteCF&issuer_rnc=131000001`));
});

it('an approval is sent to its issuer again by its id', async () => {
  pages = [{ id: 7, issuer_delivery_status: 'pending' }];
  expect(await printed(approvals, {}, ['retry', '7'])).toEqual([{ id: 7, issuer_delivery_status: 'pending' }]);
  expect(paths).toEqual(['/admin/approvals/retry']);
  for (const [values, words] of [
    [{}, ['retry']],
    [{}, ['retry', 'x']],
    [{}, ['retry', '7', '8']],
    [{ accepted: true, note: 'x' }, ['retry', '7']],
  ] as const)
    await expect(printed(approvals, values, [...words])).rejects.toBeInstanceOf(UsageError);
});

it.each([
  [
    approvals,
    ['retry', '7'],
    { env: 'eCF', undelivered: true },
    'retry does not take --env, --undelivered; it takes none',
  ],
  [approvals, ['settle', '7'], { accepted: true, note: 'x', issuer: '131000001' }, 'settle does not take --issuer'],
  [approvals, ['list'], { note: 'x' }, 'list does not take --note; it takes --env, --issuer, --settled, --undelivered'],
  [approvals, ['list'], { settled: true, undelivered: true }, 'say one of --settled and --undelivered'],
  [cancellations, ['list'], { note: 'x' }, 'list does not take --note'],
  [cancellations, ['settle', '7'], { rejected: true, note: 'x', env: 'eCF' }, 'settle does not take --env'],
  [resolve, ['131000001', 'E310000000001'], { env: 'eCF', resend: true, issuer: '1' }, 'does not take --issuer'],
  [deliveries, ['retry', '131000001', 'E310000000001'], { env: 'eCF', buyer: '1' }, 'retry does not take --buyer'],
] as const)('an option that says nothing to what is done is refused: %#', async (command, words, values, reason) => {
  await expect(printed(command, values, [...words])).rejects.toThrow(reason);
  expect(paths).toEqual([]);
});

it('a list of a gateway that answers with a web page ends with a sentence', async () => {
  const page = http.createServer((_req, res) => res.end('<html><head><title>Sign in</title></head></html>'));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const before = process.env.ECF_URL;
  try {
    process.env.ECF_URL = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    await expect(printed(resolve, {})).rejects.toThrow('the answer is a web page ("Sign in"), so ECF_URL is not');
  } finally {
    process.env.ECF_URL = before;
    page.close();
  }
});
