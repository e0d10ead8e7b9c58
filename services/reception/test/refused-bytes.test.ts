import { createStoredBytesQuota } from '@ecf/public-ingress/stored-bytes-quota';
import { describe, expect, it } from '@jest/globals';
import { createInMemoryQuotaStore } from '../../../packages/public-ingress/test/support/quota-store.js';
import { createRefusedDocumentQuota } from '../src/receive/refused-bytes.js';
import { NOW } from './support/senders.js';

const LARGE = 1_000_000;

/** A quota of three documents of 100 bytes under a number that one document holds. */
function quota(requireTrustedIssuer: boolean) {
  const settings = { maxRefusedBytes: LARGE, maxCompetingBytes: 300, requireTrustedIssuer };
  const stored = createStoredBytesQuota(createInMemoryQuotaStore(), {
    maxStoredBytesPerSender: LARGE,
    maxStoredBytesFromStrangers: LARGE,
    maxStoredBytesPerKnownSigner: LARGE,
    reserveForTrusted: false,
  });
  const all = createRefusedDocumentQuota(stored, settings);
  const holder = { id: 1 } as never;
  const sizes = { documentBytes: 100, acknowledgementBytes: 10 };
  return (sender: string, key: string, holderId: string | null = null) => {
    const signer = { name: `TesteCF:199999991:${key}`, known: key === 'known', trusted: requireTrustedIssuer };
    return all.take({ storer: { at: NOW, sender, signer }, ...sizes, holder, holderId, confirmed: false });
  };
}

describe('the quota of a number', () => {
  it('is used up by a forger with enough networks; a known signer of the issuer has its own', async () => {
    const take = quota(false);
    for (const n of [1, 2, 3]) expect(await take(`198.51.100.${n}`, `made up ${n}`, `${n}`)).toBeNull();
    expect(await take('203.0.113.1', 'first time', '00100000001')).toBe('number');
    expect(await take('203.0.113.1', 'known', '00100000002')).toBeNull();
    expect(await take('203.0.113.1', 'known', '00100000002')).toBe('number');
  });

  it('has a share for every certificate holder if certificates must lead to a trusted issuer', async () => {
    const take = quota(true);
    for (const n of [1, 2, 3]) expect(await take(`198.51.100.${n}`, `real ${n}`, '00100000009')).toBeNull();
    expect(await take('198.51.100.4', 'real 4', '00100000009')).toBeNull();
    // For all certificates and networks of one holder together.
    expect(await take('198.51.100.5', 'real 5', '00100000009')).toBe('number');
    expect(await take('203.0.113.1', 'first time', '00100000001')).toBeNull();
    expect(await take('203.0.113.2', 'without holder')).toBeNull();
  });
});
