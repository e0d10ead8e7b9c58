import type { TaxpayerState } from '@ecf/contracts';
import { createInMemoryTaxpayerReplica } from '@ecf/test-support/taxpayer-replica';
import { expect, it } from '@jest/globals';
import { createTaxpayers } from '../src/credentials/taxpayers.js';
import { until } from './support/until.js';

function state(rnc: string, revision: number, previous: number, change: Partial<TaxpayerState> = {}): TaxpayerState {
  return {
    rnc,
    account_id: 'a',
    account_active: true,
    revision,
    previous_revision: previous,
    name: `n${revision}`,
    active: true,
    certificate: null,
    fingerprint: null,
    ranges: [],
    created_at: `2026-01-01T00:00:0${rnc.at(-1)}-04:00`,
    ...change,
  };
}

it('reads the revision of the identity from memory, then the replica, then the gateway', async () => {
  const replica = createInMemoryTaxpayerReplica();
  let fetches = 0;
  const taxpayers = createTaxpayers(replica, {
    async fetch() {
      fetches += 1;
      return {
        account_id: 'a',
        revision: 8,
        taxpayers: [state('100000001', 4, 0), state('100000002', 8, 4, { active: false })],
      };
    },
  });
  const caller = (taxpayersRevision: number) => ({ accountId: 'a', taxpayersRevision });
  await replica.apply(state('100000001', 4, 0));
  expect((await taxpayers.require(caller(4), '100000001')).name).toBe('n4');
  expect(fetches).toBe(0);
  expect((await taxpayers.require(caller(8), '100000001')).name).toBe('n4');
  expect((await taxpayers.require(caller(7), '100000001')).name).toBe('n4');
  expect(fetches).toBe(1);
  await expect(taxpayers.require(caller(8), '100000002')).rejects.toMatchObject({ code: 'taxpayer_not_found' });
  await expect(taxpayers.require(caller(8), '100000009')).rejects.toMatchObject({ code: 'taxpayer_not_found' });
  await expect(taxpayers.require({ accountId: 'b', taxpayersRevision: 0 }, '100000001')).rejects.toMatchObject({
    code: 'taxpayer_not_found',
  });
  expect((await taxpayers.list(caller(8))).map(({ rnc }) => rnc)).toEqual(['100000001', '100000002']);
  expect(fetches).toBe(1);
  await replica.apply(state('100000001', 11, 8));
  expect((await taxpayers.require(caller(11), '100000001')).name).toBe('n11');
  // The lines of a batch keep the identity of its request, and learn of a change within a second.
  await replica.apply(state('100000001', 12, 11));
  await until(async () => (await taxpayers.require(caller(11), '100000001')).name === 'n12', 'the change is known');
  // A deactivation stops new calls, whose identity is newer, and no lines of a batch.
  await replica.apply(state('100000001', 13, 12, { active: false }));
  await until(async () => (await taxpayers.require(caller(12), '100000001')).name === 'n13', 'the change is known');
  await expect(taxpayers.require(caller(13), '100000001')).rejects.toMatchObject({ code: 'taxpayer_not_found' });
  expect(fetches).toBe(1);
});
