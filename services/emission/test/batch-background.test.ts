import { expect, it } from '@jest/globals';
import type { DueLine } from '../src/batches/batch.js';
import { createLineBackground } from '../src/batches/batch-background.js';
import { NOW } from './support/attempts.js';
import { until } from './support/until.js';

const MIB = 1024 * 1024;

/** The work on lines of these sizes, each of which ends when the test says so. */
function start(sizes: number[], hasSubmissions: () => boolean) {
  const due = sizes.map((size) => ({ document: Buffer.alloc(size), caller: { accountId: 'a' } }) as unknown as DueLine);
  const ends: (() => void)[] = [];
  const work = createLineBackground({
    batches: { claimDue: async ({ limit }) => due.splice(0, limit), renew: async () => undefined },
    processLine: () => new Promise((resolve) => ends.push(resolve)),
    lineRate: { exhausted: () => ({ accountIds: [], firstFree: null }) },
    observer: {} as never,
    hasSubmissions,
    clock: () => NOW,
    leaseMs: 60_000,
    idleMs: 1,
    concurrency: 64,
  });
  return { work, ends };
}

it('keeps a quarter of its lines in flight while callers wait for submissions, and all of them otherwise', async () => {
  let hasSubmissions = true;
  const { work, ends } = start(Array<number>(100).fill(1), () => hasSubmissions);
  void work.runOnce();
  await until(() => ends.length === 16);
  expect(await work.runOnce()).toBe(0);
  hasSubmissions = false;
  void work.runOnce();
  await until(() => ends.length === 64);
  expect(work.inFlight()).toHaveLength(64);
  for (const end of ends) end();
  await work.stop();
});

it('claims no further line while the documents in flight have more than 32 MiB', async () => {
  const { work, ends } = start([...Array<number>(16).fill(3 * MIB), 1], () => false);
  void work.runOnce();
  await until(() => ends.length === 16);
  expect(await work.runOnce()).toBe(0);
  for (const end of ends.splice(0, 6)) end();
  await until(() => work.inFlight().length === 10);
  void work.runOnce();
  await until(() => work.inFlight().length === 11);
  for (const end of ends) end();
  await work.stop();
});
