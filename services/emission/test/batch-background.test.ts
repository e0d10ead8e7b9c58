import { expect, it } from '@jest/globals';
import type { DueLine } from '../src/batches/batch.js';
import { createLineBackground } from '../src/batches/batch-background.js';
import { NOW } from './support/attempts.js';
import { until } from './support/until.js';

const MIB = 1024 * 1024;

it('claims no line while the documents in flight have as many bytes as they may', async () => {
  const room: (number | undefined)[] = [];
  const due = [20, 20, 1].map((size) => ({ document: Buffer.alloc(size * MIB) }) as unknown as DueLine);
  const ends: (() => void)[] = [];
  const work = createLineBackground(
    {
      batches: {
        async claimDue({ bytes }: { bytes?: number }) {
          room.push(bytes);
          return due.splice(0, 1);
        },
      },
      lineRate: { exhausted: () => ({ accountIds: [], firstFree: null }) },
      clock: () => NOW,
      settings: { leaseMs: 60_000 },
    } as never,
    () => new Promise((resolve) => ends.push(resolve)),
    { idleMs: 1, concurrency: 64 },
  );
  work.start();
  await until(() => ends.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(room).toEqual([32 * MIB, 12 * MIB]);
  ends[0]?.();
  await until(() => ends.length === 3);
  expect(room[2]).toBe(12 * MIB);
  for (const end of ends) end();
  await work.stop();
});
