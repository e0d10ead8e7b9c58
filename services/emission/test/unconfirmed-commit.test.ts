import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { releaseUnconfirmed } from '../src/attempt/unconfirmed-commit.js';
import { at, sending } from './support/attempts.js';
import { createInMemoryEmissionStore } from './support/emission-store.in-memory.js';

describe('an attempt whose commit was not confirmed', () => {
  it.each([
    ['becomes due as unsent', (attempt: Attempt) => attempt, { state: 'committed', owner: null }],
    [
      'stays with the instance that claimed it',
      ({ revision, ...rest }: Attempt): Attempt => ({ ...rest, revision: revision + 1 }),
      { state: 'sending' },
    ],
    [
      'stays with another instance',
      (attempt: Attempt): Attempt => ({ ...attempt, owner: 'another' }),
      { state: 'sending', owner: 'another' },
    ],
    [
      'is unchanged if the number has another emission',
      (attempt: Attempt): Attempt => ({ ...attempt, emissionId: attempt.emissionId + 1 }),
      { state: 'sending' },
    ],
    [
      'is unchanged if the number has other bytes',
      (attempt: Attempt): Attempt => ({ ...attempt, xml: { ...attempt.xml, sha256: 'f'.repeat(64) } }),
      { state: 'sending' },
    ],
    [
      'stays held',
      (attempt: Attempt): Attempt => ({ ...attempt, state: 'held', owner: null }),
      { state: 'held', owner: null },
    ],
  ] as const)('%s', async (_, stored, expected) => {
    const store = createInMemoryEmissionStore(() => ({}) as never);
    const attempt = sending();
    await store.begin(stored(attempt), null, []);
    const moment = at(1_000);
    const pending = new Set<Promise<unknown>>();
    const ports = {
      emissions: store,
      observer: {} as never,
      clock: () => moment.now,
      random: moment.random,
      settings: moment.settings as never,
      sleep: async () => undefined,
      pending,
    };
    releaseUnconfirmed(ports, attempt);
    await Promise.all(pending);
    expect(await store.find(attempt)).toMatchObject(expected);
    expect(pending.size).toBe(0);
  });
});
