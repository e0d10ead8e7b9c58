import { expect, it } from '@jest/globals';
import type { Contingency } from '../../src/core/contingency/contingency.js';
import { createRecovery } from '../../src/core/contingency/recovery.js';
import { NOW, unknown, verdict } from '../support/attempts.js';

const AWAY: Contingency = {
  env: 'TesteCF',
  route: 'ecf',
  since: NOW,
  returnedAt: null,
  failures: 0,
  rate: 10,
};

it.each([
  ['a document is sent, and the next look is soon', { answers: true, free: 1 }, { released: 1, pause: 1_000 }],
  ['if all that wait have times of their own, seldom', { answers: true, free: 0 }, { released: 0, pause: 30_000 }],
  ['without a seed, no document is sent', { answers: false, free: 1 }, { released: null, pause: 1_000 }],
])('while the authority is away: %s', async (_, { answers, free }, expected) => {
  const seen: { released: number | null; pause: number | null } = { released: null, pause: null };
  const contingency = {
    claimDue: async ({ limit }: { limit: number }) => (seen.pause === null && limit > 0 ? [AWAY] : []),
    late: async () => [],
    waiting: async () => ({ total: 3, released: 0 }),
    release: async () => {
      seen.released = free;
      return free;
    },
    unreached: async () => undefined,
    save: async (__: Contingency, dueAt: Date) => {
      seen.pause = dueAt.getTime() - NOW.getTime();
    },
  };
  const recovery = createRecovery(
    {
      authority: { requestSeed: async () => (answers ? verdict({}) : unknown('no')) },
      contingency,
      clock: () => NOW,
      settings: { recoveryRate: 10 },
      observer: {
        failed: (__: string, error: unknown) => {
          throw error;
        },
      },
    } as never,
    { idleMs: 1 },
  );
  await recovery.runOnce();
  expect(seen).toEqual(expected);
});
