import { describe, expect, it } from '@jest/globals';
import { toldToRepeat, withdrawLater } from '../../src/core/unconfirmed-commit.js';
import { createInMemoryEmissionStore } from '../../src/outbound/emission-store.in-memory.js';
import { at, sending } from '../support/attempts.js';

describe('an attempt whose commit was not confirmed', () => {
  it.each([
    ['is withdrawn', false, 'withdrawn', 2],
    ['is sent where somebody was told of it meanwhile', true, 'committed', 3],
  ] as const)('%s', async (_, isTold, state, revision) => {
    const store = createInMemoryEmissionStore(() => ({}) as never);
    const attempt = sending();
    await store.begin(attempt, null);
    const moment = at(1_000);
    const ports = {
      emissions: store,
      observer: {} as never,
      clock: () => moment.now,
      random: moment.random,
      settings: moment.settings as never,
      sleep: async () => undefined,
      pending: new Set<Promise<unknown>>(),
      withdrawals: new Map<string, Promise<void>>(),
    };
    if (isTold) expect((await toldToRepeat(ports, attempt))?.state).toBe('sending');
    withdrawLater(ports, attempt);
    await Promise.all(ports.withdrawals.values());
    const found = await store.find(attempt);
    expect(found).toMatchObject({ state, revision, owner: null, nextActionAt: isTold ? moment.now : null });
    expect([ports.pending.size, ports.withdrawals.size]).toEqual([0, 0]);
    expect(await toldToRepeat(ports, attempt)).toEqual(isTold ? found : null);
  });
});
