import { expect, it } from '@jest/globals';
import type { Contingency } from '../src/contingency/ports.js';
import { createRecovery } from '../src/contingency/recovery.js';
import { NOW, unknown, verdict } from './support/attempts.js';

const AWAY: Contingency = {
  env: 'TesteCF',
  route: 'ecf',
  returnedAt: null,
  failures: 0,
  rate: 10,
};

/** Runs the recovery once. Returns what it released, and the pause and the rate that it stored. */
async function lookAt(
  present: Contingency,
  { answers = true, free = 0, recoveryRate = 10, retrying = 0, probing = 0 },
) {
  const seen: { released: number | null; pause: number | null; rate: number } = {
    released: null,
    pause: null,
    rate: 0,
  };
  const contingency = {
    claimDue: async ({ limit }: { limit: number }) => (seen.pause === null && limit > 0 ? [present] : []),
    setDeadlines: async () => undefined,
    late: async () => [],
    waiting: async () => ({ total: 3, released: probing + retrying, probing }),
    release: async () => {
      seen.released = free;
      return free;
    },
    unreached: async () => undefined,
    save: async ({ rate }: Contingency, dueAt: Date) => {
      seen.pause = dueAt.getTime() - NOW.getTime();
      seen.rate = rate;
    },
  };
  const recovery = createRecovery(
    {
      authority: { requestSeed: async () => (answers ? verdict({}) : unknown('no')) },
      contingency,
      clock: () => NOW,
      observer: {
        failed: (__: string, error: unknown) => {
          throw error;
        },
      },
    } as never,
    { idleMs: 1, recoveryRate },
  );
  await recovery.runOnce();
  return seen;
}

it('a higher RECOVERY_RATE counts immediately, also for a recovery that is running', async () => {
  const recovering = { ...AWAY, returnedAt: NOW, failures: 1, rate: 12 };
  expect(await lookAt(recovering, { recoveryRate: 100 })).toMatchObject({ rate: 100, pause: 1_000 });
});

it.each([
  ['a document is sent, and the next probe is soon', { answers: true, free: 1 }, { released: 1, pause: 1_000 }],
  [
    'if every waiting document has its own retry time, the next probe is late',
    { answers: true, free: 0 },
    { released: 0, pause: 30_000 },
  ],
  ['retries of failed documents are not probes', { retrying: 2, free: 1 }, { released: 1, pause: 1_000 }],
  ['a document that is being sent is a probe', { probing: 1, free: 1 }, { released: null, pause: 1_000 }],
  ['without a seed, no document is sent', { answers: false, free: 1 }, { released: null, pause: 1_000 }],
])('while the authority is unreachable, %s', async (_, options, expected) => {
  expect(await lookAt(AWAY, options)).toMatchObject(expected);
});
