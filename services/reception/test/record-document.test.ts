import { StoredBytesUsed, type Storer } from '@ecf/public-ingress/stored-bytes-quota';
import { testKey } from '@ecf/test-support';
import { openCertificate } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { expect, it } from '@jest/globals';
import { createRecordDocument, type Incoming } from '../src/receive/record-document.js';
import type { RefusedDocumentBytes } from '../src/receive/refused-bytes.js';
import { NOW } from './support/senders.js';

const issued = createCertificateAuthority({ key: testKey(1) }).issue({
  commonName: 'José Ñandú',
  holderId: '00112345678',
  notBefore: new Date(NOW.getTime() - 86_400_000),
  notAfter: new Date(NOW.getTime() + 86_400_000),
  password: 'clave',
  key: testKey(0),
});

/** Records one document; a quota counts the bytes, or is used up. */
function recording(isUsedUp: boolean) {
  const counts = { taken: 0, signatures: 0, stored: 0 };
  const take = async (_: Storer, bytes: number) => {
    if (isUsedUp) throw new StoredBytesUsed('sender:x', 60);
    counts.taken += bytes;
    return null;
  };
  const store = async (_: unknown, files: readonly { bytes: Uint8Array }[]) => {
    for (const { bytes } of files) counts.stored += bytes.length;
    return 1;
  };
  const record = createRecordDocument({
    clock: () => NOW,
    isKnown: async () => false,
    archive: {},
    quotas: { take: async () => null },
    recordUse: async () => {
      counts.signatures += 1;
    },
    documents: { add: store, refuse: store, keptRefusal: async () => null, wasRefused: async () => false },
    stored: { take },
    refusedQuota: {
      take: async ({ storer, documentBytes, acknowledgementBytes }: RefusedDocumentBytes) =>
        take(storer, documentBytes + acknowledgementBytes),
    },
  } as never);
  const incoming = {
    bytes: Buffer.from('<ECF/>'),
    env: 'TesteCF',
    arrivedAt: NOW,
    origin: { requestId: 'r', sender: 's' },
    quotaSender: 's',
    sha256: 'a'.repeat(64),
    validation: { motive: 1, particulars: 'x', faults: [], signer: null, ecfType: '31' },
    key: { env: 'TesteCF', buyerRnc: '188888885', issuerRnc: '199999991', encf: 'E310000000001' },
    buyer: {
      signer: { account_id: 'account-1', rnc: '188888885' },
      certificate: openCertificate(issued.p12, issued.password, NOW),
      served: true,
    },
  } as unknown as Incoming;
  return { counts, record, incoming };
}

const ways = {
  'an accepted document': ({ record, incoming }: ReturnType<typeof recording>) =>
    record.accept(incoming, { facts: {}, signer: {}, securityCode: 'abcdef', observations: [] } as never),
  'a refused document': ({ record, incoming }: ReturnType<typeof recording>) => record.refuse(incoming, 1, 'x', null),
};

it.each(Object.entries(ways))('a record counts for %s exactly the bytes that it stores', async (_, run) => {
  const recorded = recording(false);
  await run(recorded);
  expect(recorded.counts.signatures).toBe(1);
  expect(recorded.counts.stored).toBeGreaterThan(1_000);
  expect(recorded.counts.taken).toBe(recorded.counts.stored);
});

it.each(Object.entries(ways))('a record signs nothing for %s whose sender has used its quota', async (_, run) => {
  const recorded = recording(true);
  await expect(run(recorded)).rejects.toThrow(StoredBytesUsed);
  expect(recorded.counts).toEqual({ taken: 0, signatures: 0, stored: 0 });
});
