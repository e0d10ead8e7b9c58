import { expect, it } from '@jest/globals';
import type { NewBatch, NewLine } from '../src/batches/batch.js';
import { readLine } from '../src/batches/line-numbers.js';
import type { BatchStore } from '../src/batches/ports.js';
import { createReceiveBatch } from '../src/batches/receive-batch.js';

/** The lines that are stored of a body. */
async function linesOf(...bodies: readonly Buffer[]): Promise<NewLine[]> {
  const stored: NewLine[] = [];
  const batches = {
    begin: async () => 1,
    addLines: async (_id: number, _accountId: string, lines: readonly NewLine[]) => void stored.push(...lines),
    receive: async () => null,
    findByKey: async () => null,
    discard: async () => undefined,
  } as unknown as BatchStore;
  async function* documents() {
    yield* bodies;
  }
  const batch = { caller: {}, env: 'TesteCF', idempotencyKey: 'key', validate: false, mayWait: false };
  await createReceiveBatch(
    { batches, readLine: async (line) => readLine(line), clock: () => new Date(0) },
    () => undefined,
  )(batch as unknown as Omit<NewBatch, 'createdAt'>, {
    documents: documents(),
    release: () => undefined,
    sha256: () => '',
  });
  return stored;
}

it('a line that its check refuses as JSON has no number', async () => {
  const IdDoc = '"IdDoc": {"eNCF": "E310000000001"}';
  const line = (text: string) => Buffer.from(`{"ECF": {"Encabezado": {${text}}}}`);
  const lines = await linesOf(line(IdDoc), line(`${IdDoc}, ${IdDoc}`), line(`"__proto__": 1, ${IdDoc}`));
  expect(lines.map(({ encf }) => encf)).toEqual(['E310000000001', null, null]);
});

it('a body is refused if none of its first ten lines is JSON, but not if it has fewer lines or a document among them', async () => {
  const pretty = JSON.stringify({ ECF: { Encabezado: { IdDoc: { a: 1, b: 2, c: 3, d: 4, e: 5 } } } }, null, 1);
  const lines = pretty.split('\n').map((line) => Buffer.from(line));
  await expect(linesOf(...lines)).rejects.toMatchObject({
    code: 'invalid_batch',
    message: expect.stringContaining('Each document must be on one line'),
  });
  expect(await linesOf(...lines.slice(0, 9))).toHaveLength(9);
  expect(await linesOf(...lines.slice(0, 9), Buffer.from('{"ECF":{}}'), ...lines)).toHaveLength(10 + lines.length);
});

it('a line of five million levels is stored without a number', async () => {
  const levels = 5_000_000;
  const line = Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  // Reading it level by level would overflow the stack or take hours.
  const [stored] = await linesOf(line);
  expect([stored?.encf, stored?.document === line]).toEqual([null, true]);
});
