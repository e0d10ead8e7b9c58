import { expect, it } from '@jest/globals';
import type { NewBatch, NewLine } from '../../src/core/batches/batch.js';
import type { BatchStore } from '../../src/core/batches/batch-ports.js';
import { lineNumbers } from '../../src/core/batches/line-numbers.js';
import { createReceiveBatch } from '../../src/core/batches/receive-batch.js';

/** The lines that are stored of a body. */
async function linesOf(...bodies: readonly Buffer[]): Promise<NewLine[]> {
  const stored: NewLine[] = [];
  const batches = {
    begin: async () => 1,
    addLines: async (_id: number, _accountId: string, lines: readonly NewLine[]) => void stored.push(...lines),
    receive: async () => null,
  } as unknown as BatchStore;
  async function* documents() {
    yield* bodies;
  }
  const batch = { caller: {}, env: 'TesteCF', idempotencyKey: null, validate: false, mayWait: false };
  await createReceiveBatch(
    { batches, readNumbers: async (line) => lineNumbers(line), clock: () => new Date(0) },
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

it('a line of five million levels is taken at once', async () => {
  const levels = 5_000_000;
  const line = Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const began = performance.now();
  const [stored] = await linesOf(line);
  const took = performance.now() - began;
  expect([stored?.encf, stored?.document === line]).toEqual([null, true]);
  expect(took).toBeLessThan(1_000);
});
