import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it, jest } from '@jest/globals';
import { type BatchFormat, readBatchBody } from '../src/batches/read-body.http.js';

async function documentsOf(
  chunks: readonly (string | Buffer)[],
  max = 100,
  format: BatchFormat = 'ndjson',
): Promise<(string | null)[]> {
  const req = Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk as string))), { headers: {} });
  const found: (string | null)[] = [];
  for await (const document of readBatchBody(req as unknown as IncomingMessage, format, max).documents)
    found.push(document === null ? null : document.toString());
  return found;
}

it('lines may arrive in pieces with blanks around them, and a line that is too long is null', async () => {
  expect(await documentsOf(['\n {"a"', ':1}\r', '\n\t\n', ' \n{', '}', '\n', 'x'.repeat(101), '\n1'])).toEqual([
    '{"a":1}\r',
    '{}',
    null,
    '1',
  ]);
});

it('blank lines cost only their bytes, whatever their number and length', async () => {
  const concat = jest.spyOn(Buffer, 'concat');
  expect(await documentsOf(['\n'.repeat(10_000), ' '.repeat(1_000), '\n{}'])).toEqual(['{}']);
  expect(concat).toHaveBeenCalledTimes(1);
  concat.mockRestore();
});

it('an array may begin with a byte order mark, in pieces too', async () => {
  const mark = Buffer.from('\ufeff');
  expect(await documentsOf([mark.subarray(0, 1), mark.subarray(1), ' [{},', '1]'], 100, 'json')).toEqual(['{}', '1']);
  await expect(documentsOf(['x[1]'], 100, 'json')).rejects.toMatchObject({ code: 'invalid_batch' });
});

it('an array of blanks holds no document, whatever their number and however they arrive', async () => {
  for (const chunks of [
    ['[]'],
    [`[${' '.repeat(101)}]`],
    ['[', ' \r\n\t'.repeat(50_000), '\n', ']'],
    ['[\n'.padEnd(200), ']'],
  ]) {
    expect(await documentsOf(chunks, 100, 'json')).toEqual([]);
    expect(await documentsOf(chunks.map((chunk) => chunk.replace(/[[\]]/g, ' ')))).toEqual([]);
  }
  expect(await documentsOf(['\ufeff', ' \n'.repeat(100)])).toEqual([]);
});

it('blanks before a document of an array do not count as its bytes', async () => {
  const blanks = ' \n'.repeat(100);
  expect(await documentsOf([`[${blanks}{}`, `,${blanks}`, `1]`], 100, 'json')).toEqual(['{}', '1']);
  expect(await documentsOf([`[${blanks}"${'x'.repeat(97)}`, `",${blanks}2]`], 100, 'json')).toHaveLength(2);
  await expect(documentsOf([`[1,${blanks}]`], 100, 'json')).rejects.toMatchObject({ code: 'invalid_batch' });
});
