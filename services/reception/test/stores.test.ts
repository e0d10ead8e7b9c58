import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LISTING_SORTS, type ListingSort, type ReceivedInvoiceDecision } from '@ecf/contracts';
import { createMasterKeys, sealHead } from '@ecf/kit';
import { type Database, limitDueTimes, openDatabase } from '@ecf/postgres';
import {
  areKnownSigners,
  createQuotaStore,
  noteKnownSigner,
  type QuotaStore,
  quotaHour,
  type SignerFacts,
  type SignerUse,
} from '@ecf/public-ingress';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInMemoryQuotaStore } from '../../../packages/public-ingress/test/support/quota-store.js';
import { DUE_TIMES } from '../src/background.js';
import { createConfirmationStore } from '../src/confirmation/confirmations.postgres.js';
import { createListings } from '../src/listings/listings.postgres.js';
import type { ListedDocument, ListingStore, Place } from '../src/listings/ports.js';
import { createArrivals } from '../src/receive/arrivals.postgres.js';
import { createDecisions } from '../src/receive/decisions.postgres.js';
import type { DocumentStore as CoreStore, DecisionStore } from '../src/receive/ports.js';
import type { DocumentKey, NewReceivedDocument, NewRefusedDocument } from '../src/receive/received-document.js';
import { createRefusals } from '../src/receive/refusals.postgres.js';
import type { SpentSeeds, TokenKeys } from '../src/tokens/ports.js';
import { createSpentSeeds, createTokenKeys, sealedTokenKeys } from '../src/tokens/tokens.postgres.js';
import { encf } from './support/documents.js';
import { BUYER, NOW, OTHER_BUYER, OTHER_PROVIDER, PROVIDER } from './support/senders.js';
import { createInMemorySpentSeeds } from './support/spent-seeds.in-memory.js';
import { ACCOUNT, MASTER_KEY } from './support/taxpayers.js';
import { createInMemoryTokenKeys } from './support/token-keys.in-memory.js';

/** The store, for tests that do not check the bytes of documents. */
type DocumentStore = CoreStore & DecisionStore & ListingStore;
type TestDocuments = Omit<DocumentStore, 'add' | 'refuse'> & {
  add(document: NewReceivedDocument): ReturnType<DocumentStore['add']>;
  refuse(refusal: NewRefusedDocument): ReturnType<DocumentStore['refuse']>;
};

function withoutFiles(documents: DocumentStore): TestDocuments {
  return {
    ...documents,
    add: (document) => documents.add(document, []),
    refuse: (refusal) => documents.refuse(refusal, []),
  };
}

interface Stores {
  seeds: SpentSeeds;
  keys: TokenKeys;
  quotas: QuotaStore;
}

let database: Database;
let documents: TestDocuments;
const stores: Record<'memory' | 'postgres', Stores | undefined> = { memory: undefined, postgres: undefined };

beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase('reception');
  database = openDatabase(url);
  documents = withoutFiles({
    ...createArrivals(database),
    ...createRefusals(database),
    ...createDecisions(database),
    ...createListings(database),
  });
  stores.postgres = {
    seeds: createSpentSeeds(database),
    keys: createTokenKeys(database, createMasterKeys([MASTER_KEY])),
    quotas: createQuotaStore(database),
  };
  stores.memory = {
    seeds: createInMemorySpentSeeds(),
    keys: createInMemoryTokenKeys(),
    quotas: createInMemoryQuotaStore(),
  };
});
afterAll(() => database.close());

const SIGNER: SignerFacts = {
  subject: 'CN=Provider',
  serialNumber: '01',
  issuer: 'CN=Issuer',
  fingerprint: 'f',
  keyFingerprint: 'k',
  holderId: null,
  trusted: null,
};

const SIGNER_COLUMNS = {
  certificateSubject: 'CN=Provider',
  certificateSerial: '01',
  certificateIssuer: 'CN=Issuer',
  certificateFingerprint: 'f',
  certificateKey: 'k',
  certificateHolder: null,
  certificateTrusted: null,
};

let sequence = 0;

function received(other: Partial<NewReceivedDocument> = {}): NewReceivedDocument {
  sequence += 1;
  return {
    env: 'TesteCF',
    buyerRnc: BUYER,
    issuerRnc: PROVIDER,
    encf: encf(sequence),
    accountId: ACCOUNT,
    ecfType: '31',
    issuerName: 'Provider',
    buyerName: null,
    dateIssued: '2026-06-15',
    totalAmount: '118.10',
    totalItbis: '18.10',
    modifiedEncf: null,
    signatureDatetime: '2026-06-23 11:58:00',
    receivedAt: NOW,
    acknowledgedAt: NOW,
    bytes: 10,
    xmlPath: `x/${sequence}`,
    xmlSha256: `${sequence}`.padStart(64, '0'),
    arecfPath: `a/${sequence}`,
    arecfSha256: 'a'.repeat(64),
    ...SIGNER_COLUMNS,
    signerKnown: false,
    securityCode: 'abcdef',
    contentSha256: null,
    canonical: 'as-is',
    observations: [],
    requestId: 'r',
    sender: '203.0.113.7',
    ...other,
  };
}

function keyOf({ env, buyerRnc, issuerRnc, encf: number }: NewReceivedDocument): DocumentKey {
  return { env, buyerRnc, issuerRnc, encf: number };
}

function refused(document: NewReceivedDocument, holderId: number | null, sha256: string): NewRefusedDocument {
  return {
    ...keyOf(document),
    motive: 3,
    reason: '3 Envio duplicado',
    faults: [],
    receivedAt: NOW,
    bytes: 10,
    sha256,
    xmlPath: 'x/other',
    arecfPath: `a/${sha256.slice(0, 4)}`,
    arecfSha256: 'b'.repeat(64),
    acknowledgedAt: NOW,
    ...SIGNER_COLUMNS,
    certificateSubject: 'CN=Other',
    certificateFingerprint: 'g',
    holderId,
    contentSha256: null,
    confirmable: null,
    competes: holderId !== null,
    requestId: 'r',
    sender: null,
    notify: null,
  };
}

function decision(
  document: NewReceivedDocument,
  revision: number,
  status: 'approved' | 'rejected',
): ReceivedInvoiceDecision {
  return {
    direction: 'given',
    env: document.env,
    issuer_rnc: document.issuerRnc,
    encf: document.encf,
    buyer_rnc: document.buyerRnc,
    revision,
    approval_status: status,
    approval_datetime: '2026-06-24T10:00:00-04:00',
  };
}

const NEWEST = { sort: '-created_at', place: null, limit: 10, offset: 0 } as const;

const everything = {
  env: 'TesteCF',
  buyerRnc: BUYER,
  issuerRnc: null,
  authorityStatus: null,
  from: new Date(0),
  until: new Date('2030-01-01'),
  issued: null,
} as const;

/** The record of a document, with the documents that compete with it. */
async function listedOne(documents: TestDocuments, document: NewReceivedDocument): Promise<ListedDocument | undefined> {
  const { env, buyerRnc, issuerRnc, encf: number } = document;
  return (await documents.byNumber({ env, buyerRncs: [buyerRnc], issuerRnc, encf: number }))[0];
}

describe('documents', () => {
  it('occupy a number once', async () => {
    const first = received();
    const id = await documents.add(first);
    const { securityCode: _, signerKnown: __, ...record } = first;
    expect(await listedOne(documents, first)).toEqual({
      ...record,
      id,
      revision: 1,
      updatedAt: expect.any(Date),
      approvalRevision: 0,
      known: false,
      conflicts: [],
      unkept: [],
      conflictsTotal: 0,
      authorityStatus: 'pending',
      authorityCheckedAt: null,
      promotedAt: null,
      approvalStatus: 'pending',
      approvalDatetime: null,
      answeredAt: null,
    });
    expect(await documents.add({ ...received(), ...keyOf(first) })).toBeNull();
    const { xmlSha256, arecfPath } = first;
    expect(await documents.holder(first)).toMatchObject({ id, xmlSha256, arecfPath, answeredAt: null });
    expect(await documents.holder({ ...first, env: 'eCF' })).toBeNull();
  });

  it('are added once for a number, also if many additions arrive together', async () => {
    const key = keyOf(received());
    const added = await Promise.all(Array.from({ length: 20 }, () => documents.add(received(key))));
    expect(added.filter((one) => one !== null)).toHaveLength(1);
  });

  it('keep the first time at which an answer left, whatever is recorded later', async () => {
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    await documents.noteAnswered([[id, NOW]]);
    await documents.noteAnswered([[id, new Date(NOW.getTime() + 5)]]);
    expect(await documents.holder(document)).toMatchObject({ answeredAt: NOW });
  });

  it('are refused together with the event of the refusal, or not at all', async () => {
    const one = { ...refused(received(), null, '6'.repeat(64)), reason: 'told' };
    const told = () => database.query("SELECT 1 FROM outbox WHERE topic = 'refusals.v1'");
    // An event without account is refused.
    await expect(documents.refuse({ ...one, notify: { account_id: '', ecf_type: null } })).rejects.toThrow();
    expect([await documents.wasRefused(one), (await told()).rowCount]).toEqual([false, 0]);
    await documents.refuse({ ...one, notify: { account_id: ACCOUNT, ecf_type: null } });
    expect([await documents.wasRefused(one), (await told()).rowCount]).toEqual([true, 1]);
    expect(await documents.wasRefused({ ...one, reason: 'another' })).toBe(false);
  });

  it('are listed as competitors, and new bytes raise the revision once', async () => {
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    for (const sha256 of ['1', '1', '2']) await documents.refuse(refused(document, id, sha256.repeat(64)));
    expect((await listedOne(documents, document))?.revision).toBe(3);
    expect((await listedOne(documents, document))?.conflicts).toMatchObject([
      { sha256: '1'.repeat(64), receivedAt: NOW, certificateSubject: 'CN=Other', xmlPath: 'x/other' },
      { sha256: '2'.repeat(64), receivedAt: NOW, certificateSubject: 'CN=Other', xmlPath: 'x/other' },
    ]);
  });

  it('compete once with the same signed content, however it is written, and are kept once a quota allows it', async () => {
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    const contentSha256 = `${sequence}`.padStart(64, 'c');
    const one = { ...refused(document, id, '1'.repeat(64)), contentSha256, xmlPath: null };
    await documents.refuse(one);
    expect(await documents.competitor(id, one)).toEqual({ kept: null, confirmed: false });
    const other = { ...one, sha256: '2'.repeat(64), xmlPath: 'x/2' };
    for (let i = 0; i < 2; i++) await documents.refuse(other);
    expect(await documents.competitor(id, one)).toEqual({
      kept: { path: 'x/2', sha256: other.sha256 },
      confirmed: false,
    });
    const search = { env: 'TesteCF', buyerRncs: [BUYER], issuerRnc: null, encf: document.encf } as const;
    expect(await documents.byNumber(search)).toMatchObject([
      { revision: 2, conflicts: [{ sha256: other.sha256 }], conflictsTotal: 1 },
    ]);
    expect(await documents.competitor(id, { sha256: '3'.repeat(64), contentSha256: null })).toBeNull();
  });

  it('that flood a number hide neither the first document of another certificate nor one of a known signer', async () => {
    const known = { ...SIGNER, subject: 'CN=Known', fingerprint: `known ${sequence}`, keyFingerprint: `k${sequence}` };
    const before = new Date(NOW.getTime() - 1_000);
    await noteKnownSigner(database, { env: 'TesteCF', rnc: PROVIDER, signer: known, at: before });
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    let n = 0;
    const compete = async (signer: Partial<typeof SIGNER_COLUMNS>) => {
      const one = refused(document, id, `${++n}`.padStart(64, '0'));
      await documents.refuse({ ...one, ...signer });
      return one.sha256;
    };
    const { env, buyerRnc, encf: number } = document;
    const shown = async () => {
      const [listed] = await documents.byNumber({ env, buyerRncs: [buyerRnc], issuerRnc: null, encf: number });
      return listed?.conflicts.map(({ sha256 }) => sha256);
    };
    for (let i = 0; i < 110; i++) await compete({ certificateFingerprint: 'one' });
    const another = await compete({ certificateFingerprint: 'another' });
    expect(await shown()).toContain(another);
    for (let i = 0; i < 110; i++) await compete({ certificateFingerprint: `one of many ${i}` });
    const { subject: certificateSubject, fingerprint: certificateFingerprint, keyFingerprint: certificateKey } = known;
    const genuine = await compete({ certificateSubject, certificateFingerprint, certificateKey });
    expect(await shown()).toEqual(expect.arrayContaining([another, genuine]));
    expect((await listedOne(documents, document))?.revision).toBeGreaterThan(100);
  });

  it('that compete beyond the quota are counted, and are shown once they are stored', async () => {
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    const unkept = { ...refused(document, id, '5'.repeat(64)), xmlPath: null };
    for (let i = 0; i < 2; i++) await documents.refuse(unkept);
    const { env, buyerRnc, encf: number } = document;
    const look = () => documents.byNumber({ env, buyerRncs: [buyerRnc], issuerRnc: null, encf: number });
    expect(await look()).toMatchObject([{ revision: 1, conflicts: [], conflictsTotal: 1 }]);
    expect((await look())[0]?.unkept).toMatchObject([
      { sha256: unkept.sha256, receivedAt: NOW, certificateSubject: 'CN=Other' },
    ]);
    expect(await documents.competitor(id, unkept)).toEqual({ kept: null, confirmed: false });
    for (let i = 0; i < 2; i++) await documents.refuse({ ...unkept, xmlPath: 'x/kept' });
    expect(await look()).toMatchObject([
      {
        revision: 2,
        conflicts: [{ sha256: unkept.sha256, xmlPath: 'x/kept' }],
        unkept: [],
        conflictsTotal: 1,
      },
    ]);
    expect(await documents.competitor(id, unkept)).toEqual({
      kept: { path: 'x/kept', sha256: unkept.sha256 },
      confirmed: false,
    });
  });

  it('take a number once, even if two competitors are confirmed at the same moment', async () => {
    const confirmations = createConfirmationStore(database);
    const document = received();
    const id = (await documents.add(document)) ?? 0;
    const confirmable = { securityCode: 'abcdef', totalAmount: '1.00', signerKnown: false };
    for (const digit of ['7', '8']) await documents.refuse({ ...refused(document, id, digit.repeat(64)), confirmable });
    const search = { env: 'TesteCF', buyerRncs: [BUYER], issuerRnc: null, encf: document.encf } as const;
    const look = async () => (await documents.byNumber(search))[0];
    const competitors = (await look())?.conflicts ?? [];
    const promote = (documentId: number, digit: string) =>
      confirmations.promote({
        documentId,
        document: received({ ...keyOf(document), xmlPath: 'x/other', xmlSha256: digit.repeat(64) }),
        files: [],
        at: NOW,
      });
    const taken = await Promise.all(competitors.map(({ id: one, sha256 }) => promote(one, sha256.slice(0, 1))));
    expect([...taken].sort()).toEqual([false, true]);
    const [winner, loser] = taken[0] ? competitors : [...competitors].reverse();
    expect(await look()).toMatchObject({
      id: winner?.id,
      xmlSha256: winner?.sha256,
      authorityStatus: 'confirmed',
      promotedAt: NOW,
      conflictsTotal: 2,
    });
    const ids = (await look())?.conflicts.map((conflict) => conflict.id) ?? [];
    expect([...ids].sort()).toEqual([id, loser?.id].sort());
    expect(await confirmations.competitor(loser?.id ?? 0)).toMatchObject({ holderConfirmed: true });
    // Refusals that were decided before the exchange are recorded under the new holder.
    await documents.refuse(refused(document, id, '9'.repeat(64)));
    await documents.refuse({ ...refused(document, id, '7'.repeat(64)), competes: false });
    expect((await look())?.conflictsTotal).toBe(3);
  });

  it('have due times that are brought back to the longest pause if they exceed it', async () => {
    await documents.add(received({}));
    await database.query("UPDATE confirmations SET due_at = now() + interval '92 days'");
    await limitDueTimes(database, DUE_TIMES);
    const { rowCount } = await database.query("SELECT FROM confirmations WHERE due_at > now() + interval '2 hours'");
    expect(rowCount).toBe(0);
  });

  it('have their first query before repeated ones, and documents of known signers come first', async () => {
    const confirmations = createConfirmationStore(database);
    await database.query('UPDATE confirmations SET due_at = NULL');
    const add = async (given: Partial<NewReceivedDocument>) => (await documents.add(received(given))) ?? 0;
    const [repeated, failed] = [await add({}), await add({})];
    const at = NOW;
    await confirmations.answered({ documentId: repeated, status: 'unknown', at, dueAt: at });
    await confirmations.unanswered(failed, at);
    const strangers = [await add({}), await add({})];
    const known = await add({ signerKnown: true, acknowledgedAt: new Date(NOW.getTime() + 1_000) });
    const now = new Date(NOW.getTime() + 60_000);
    const claim = async (limit: number) => {
      const claimed = await confirmations.claimDue({ now, until: new Date(now.getTime() + 60_000), limit });
      return claimed.map(({ documentId }) => documentId).sort();
    };
    expect(await claim(1)).toEqual([known]);
    expect(await claim(2)).toEqual(strangers);
    expect(await claim(9)).toEqual([repeated, failed]);
    expect(await claim(9)).toEqual([]);
  });

  it('are listed newest first, in pages, filtered by provider and time, with exact sums', async () => {
    const env = 'CerteCF';
    const times = ['2026-06-01T10:00:00Z', '2026-06-03T10:00:00Z', '2026-06-03T10:00:00Z', '2026-06-02T10:00:00Z'];
    const ids: number[] = [];
    for (const [index, time] of times.entries()) {
      const totalAmount = index === 0 ? '0.10' : '90071992547409.92';
      const key = { env, issuerRnc: index === 3 ? OTHER_PROVIDER : PROVIDER } as const;
      ids.push((await documents.add(received({ receivedAt: new Date(time), totalAmount, ...key }))) ?? 0);
    }
    const [a, b, c, d] = ids;
    const filter = { ...everything, env } as const;
    const listedIds = async (other: object, page = { limit: 10, offset: 0 }) =>
      (await documents.list({ ...filter, ...other }, { ...NEWEST, ...page })).documents.map(({ id }) => id);
    expect(await listedIds({})).toEqual([c, b, d, a]);
    expect(await listedIds({}, { limit: 2, offset: 1 })).toEqual([b, d]);
    expect(await listedIds({}, { limit: 2, offset: 9 })).toEqual([]);
    expect(await listedIds({ issuerRnc: OTHER_PROVIDER })).toEqual([d]);
    expect(
      await listedIds({ from: new Date('2026-06-02T10:00:00Z'), until: new Date('2026-06-03T10:00:00Z') }),
    ).toEqual([d]);
    expect(await listedIds({ buyerRnc: OTHER_BUYER })).toEqual([]);
    expect(await documents.totals(filter)).toEqual({ count: 4, amount: '270215977642229.86' });
    expect(await documents.totals({ ...filter, buyerRnc: OTHER_BUYER })).toEqual({ count: 0, amount: '0.00' });
  });

  /** The ids of a listing, seven at a time. */
  async function inPages(filter: Parameters<typeof documents.list>[0], sort: ListingSort): Promise<number[]> {
    const found: number[] = [];
    for (let place: Place | null | undefined; place !== null; ) {
      const page = await documents.list(filter, { sort, place: place ?? null, limit: 7, offset: 0 });
      found.push(...page.documents.map(({ id }) => id));
      place = page.last && { ...page.last, total: 0 };
    }
    return found;
  }

  /** Sixty documents of `env`, and what a listing may sort and filter by. */
  async function addSixty(env: 'eCF') {
    const truth: { id: number; at: number; amount: number; type: string; provider: string; status: string }[] = [];
    for (let index = 0; index < 60; index += 1) {
      const at = Date.UTC(2026, 5, 1 + ((index * 7) % 11));
      const ecfType = index % 3 === 0 ? '33' : '31';
      const amount = (index * 13) % 17;
      const provider = index % 4 === 0 ? OTHER_PROVIDER : PROVIDER;
      const totalAmount = `${amount}.50`;
      const document = received({ receivedAt: new Date(at), ecfType, totalAmount, env, issuerRnc: provider });
      const id = (await documents.add(document)) ?? 0;
      const status = index % 5 === 0 ? 'approved' : 'pending';
      if (status === 'approved') await documents.decide(decision(document, 1, status), randomUUID());
      truth.push({ id, at, amount: amount + 0.5, type: ecfType, provider, status });
    }
    return truth;
  }

  it('fill pages that follow each other in every order, with any criteria, without gap or repeat', async () => {
    const env = 'eCF';
    const truth = await addSixty(env);
    const any = {
      ...{ status: null, ecfType: null, providerRnc: null, minAmount: null, maxAmount: null, updatedSince: null },
    } as const;
    type Row = (typeof truth)[number];
    for (const [criteria, matches] of [
      [{}, () => true],
      [{ status: 'approved' }, ({ status }: Row) => status === 'approved'],
      [{ ecfType: '33', minAmount: '3.50' }, ({ type, amount }: Row) => type === '33' && amount >= 3.5],
      [
        { providerRnc: OTHER_PROVIDER, maxAmount: '9.50' },
        (row: Row) => row.provider !== PROVIDER && row.amount <= 9.5,
      ],
    ] as const) {
      const filter = { ...everything, env, criteria: { ...any, ...criteria } } as const;
      for (const sort of LISTING_SORTS) {
        const field = sort.endsWith('amount') ? 'amount' : 'at';
        const direction = sort.startsWith('-') ? -1 : 1;
        const inOrder = (one: Row, other: Row) => direction * (one[field] - other[field] || one.id - other.id);
        const expected = truth
          .filter(matches)
          .sort(inOrder)
          .map(({ id }) => id);
        expect([await documents.count(filter), (await documents.totals(filter)).count]).toEqual([
          expected.length,
          expected.length,
        ]);
        const found = await inPages(filter, sort);
        expect(found).toEqual(expected);
      }
    }
    // A made-up place beyond the period or the amounts shows no other rows.
    const amounts = { ...any, minAmount: '3.50', maxAmount: '9.50' };
    const days = { from: new Date(Date.UTC(2026, 5, 3)), until: new Date(Date.UTC(2026, 5, 9)) };
    for (const [sort, value] of [
      ['created_at', '2020-01-01T00:00:00.000Z'],
      ['-created_at', '2026-06-09T00:00:00.000Z'],
      ['total_amount', '0.50'],
      ['-total_amount', '16.50'],
    ] as const) {
      const filter = { ...everything, ...days, env, criteria: amounts } as const;
      const listed = async (place: Place | null) =>
        (await documents.list(filter, { sort, place, limit: 60, offset: 0 })).documents.map(({ id }) => id);
      expect(await listed({ value, id: 10 ** 12, total: 1 })).toEqual(await listed(null));
    }
  });

  it('give the acknowledgements of the received ones of the given buyers, or else of the latest refusals', async () => {
    const document = received();
    const search = { env: 'TesteCF', buyerRncs: [BUYER], issuerRnc: PROVIDER, encf: document.encf } as const;
    const both = { ...search, buyerRncs: [BUYER, OTHER_BUYER] };
    const elsewhere = received({ ...keyOf(document), buyerRnc: OTHER_BUYER });
    const acknowledgement = { path: document.arecfPath, sha256: document.arecfSha256 };
    expect(await documents.latestAcknowledgements(both)).toEqual([]);
    await documents.refuse(refused(document, null, '1'.repeat(64)));
    await documents.refuse(refused(document, null, '2'.repeat(64)));
    expect(await documents.latestAcknowledgements(both)).toMatchObject([{ path: 'a/2222' }]);
    expect(await documents.latestAcknowledgements({ ...search, buyerRncs: [OTHER_BUYER] })).toEqual([]);
    await documents.refuse(refused(elsewhere, null, '3'.repeat(64)));
    expect((await documents.latestAcknowledgements(both)).map(({ path }) => path).sort()).toEqual(['a/2222', 'a/3333']);
    await documents.add(document);
    await documents.refuse(refused(document, null, '4'.repeat(64)));
    expect(await documents.latestAcknowledgements(both)).toEqual([acknowledgement]);
    await documents.add(elsewhere);
    expect(await documents.latestAcknowledgements(both)).toHaveLength(2);
    expect(await documents.latestAcknowledgements(search)).toEqual([acknowledgement]);
  });

  it('follow decisions by their revision, each event once', async () => {
    const document = received();
    await documents.add(document);
    const event = randomUUID();
    await documents.decide(decision(document, 2, 'rejected'), event);
    await documents.decide(decision(document, 3, 'approved'), event);
    await documents.decide(decision(document, 1, 'approved'), randomUUID());
    expect(await listedOne(documents, document)).toMatchObject({
      revision: 2,
      approvalStatus: 'rejected',
      approvalDatetime: new Date('2026-06-24T10:00:00-04:00'),
    });
    await documents.decide(decision(document, 3, 'approved'), randomUUID());
    expect(await listedOne(documents, document)).toMatchObject({ revision: 3, approvalStatus: 'approved' });
  });

  it('are found by the time of their last change', async () => {
    const env = 'CerteCF';
    const [one, other] = [received({ env }), received({ env })];
    const changedSince = async (updatedSince: Date | null) => {
      const none = { status: null, ecfType: null, providerRnc: null, minAmount: null, maxAmount: null };
      const filter = { ...everything, env, criteria: { ...none, updatedSince } } as const;
      return [await documents.count(filter), (await inPages(filter, 'created_at')).length];
    };
    const instant = () => new Promise<Date>((resolve) => setTimeout(() => resolve(new Date()), 5));
    const before = (await changedSince(null))[0] as number;
    const start = await instant();
    await documents.add(one);
    await documents.add(other);
    expect(await changedSince(start)).toEqual([2, 2]);
    const added = await instant();
    expect(await changedSince(added)).toEqual([0, 0]);
    await documents.decide(decision(other, 1, 'approved'), randomUUID());
    expect(await changedSince(added)).toEqual([1, 1]);
    expect(await changedSince(null)).toEqual([before + 2, before + 2]);
  });

  it('get the decision that came before them', async () => {
    const document = received();
    await documents.decide(decision(document, 2, 'approved'), randomUUID());
    await documents.decide(decision(document, 1, 'rejected'), randomUUID());
    await documents.add(document);
    expect(await listedOne(documents, document)).toMatchObject({ revision: 1, approvalStatus: 'approved' });
  });

  it('get the decision that comes at the same moment', async () => {
    for (let i = 0; i < 10; i++) {
      const document = received();
      await Promise.all([documents.decide(decision(document, 1, 'approved'), randomUUID()), documents.add(document)]);
      expect((await listedOne(documents, document))?.approvalStatus).toBe('approved');
    }
  });
});

describe.each(['memory', 'postgres'] as const)('with stores in %s,', (kind) => {
  const at = () => stores[kind] as Stores;

  it('quotas grant a claim completely or not at all, also concurrently', async () => {
    const { quotas } = at();
    const now = quotaHour(NOW);
    const claim = (scope: string, amount: number, limit: number, hour: number | null = now) => ({
      scope,
      hour,
      amount,
      limit,
    });
    const claims = Array.from({ length: 20 }, (_, i) =>
      quotas.take([claim(`one ${i % 2}`, 10, 1_000), claim('all', 10, 55)]),
    );
    expect((await Promise.all(claims)).filter((over) => over === null)).toHaveLength(5);
    expect(await quotas.take([claim('one 0', 1_001, 1_000)])).toMatchObject({ scope: 'one 0' });
    const used = await Promise.all([0, 1].map((i) => quotas.take([claim(`one ${i}`, 950, 1_000)])));
    expect(used.every((over) => over === null)).toBe(true);
    await quotas.take([claim('number', 1, 1, null)]);
    expect(await quotas.take([claim('number', 1, 1, null)])).toMatchObject({ scope: 'number' });
  });

  it('amounts of an hour count in that hour and the next 23, and are removed afterwards', async () => {
    const { quotas } = at();
    const start = quotaHour(NOW);
    const take = async (hours: number, amount: number) =>
      (await quotas.take([{ scope: 'rolling', hour: start + hours, amount, limit: 100 }])) === null;
    const used = (hours: number) => quotas.used('rolling', start + hours);
    const clean = (hours: number) => quotas.clean(new Date(NOW.getTime() + hours * 3_600_000));
    expect([await take(0, 40), await take(0, 10), await take(5, 30)]).toEqual([true, true, true]);
    expect([await take(23, 21), await take(23, 20)]).toEqual([false, true]);
    const [first, second, third] = [
      { hour: start, used: 50 },
      { hour: start + 5, used: 30 },
      { hour: start + 23, used: 20 },
    ];
    await clean(23);
    expect(await used(23)).toEqual([first, second, third]);
    expect(await used(24)).toEqual([second, third]);
    expect([await take(24, 51), await take(24, 50)]).toEqual([false, true]);
    // The clock of another instance is behind.
    expect(await take(23, 1)).toBe(false);
    await clean(29);
    expect(await used(0)).toEqual([third, { hour: start + 24, used: 50 }]);
    expect([await take(29, 30), await take(30, 1), await take(500, 100)]).toEqual([true, false, true]);
  });

  it('amounts that count for good are never removed', async () => {
    const { quotas } = at();
    const claim = { scope: 'for good', hour: null, amount: 1, limit: 1 };
    expect(await quotas.take([claim])).toBeNull();
    await quotas.clean(new Date(NOW.getTime() + 25 * 3_600_000));
    expect(await quotas.take([claim])).toBe(claim);
  });

  it('a seed is redeemed once, and forgotten a day after it has expired', async () => {
    const { seeds } = at();
    const spent = await Promise.all(Array.from({ length: 10 }, () => seeds.spend('s', NOW)));
    expect(spent.filter(Boolean)).toHaveLength(1);
    await seeds.clean(new Date(NOW.getTime() + 86_400_000));
    expect(await seeds.spend('s', NOW)).toBe(false);
    await seeds.clean(new Date(NOW.getTime() + 86_400_001));
    expect(await seeds.spend('s', NOW)).toBe(true);
  });

  it('keys rotate once even if many instances rotate at the same moment', async () => {
    const { keys } = at();
    const key = (kid: string, ms: number) => ({
      kid,
      createdAt: new Date(NOW.getTime() + ms),
      publicJwk: { kty: 'EC', x: kid },
      privateJwk: { kty: 'EC', d: `secret ${kid}` },
    });
    await Promise.all(
      ['a', 'b', 'c'].map((kid) => keys.rotate(key(kid, 0), new Date(NOW.getTime() - 1_000), new Date(0))),
    );
    const [first, ...rest] = await keys.all();
    expect(rest).toEqual([]);
    expect(first?.privateJwk).toEqual({ kty: 'EC', d: `secret ${first?.kid}` });
    await keys.rotate(key('d', 2_000), new Date(NOW.getTime() + 1_000), new Date(NOW.getTime() + 500));
    expect((await keys.all()).map(({ kid }) => kid)).toEqual(['d']);
  });
});

it('amounts that a clock that was ahead counted in the future no longer count once it is right', async () => {
  const quotas = createQuotaStore(database);
  const claim = { scope: 'future', hour: quotaHour(NOW), amount: 100, limit: 100 };
  expect(await quotas.take([{ ...claim, hour: claim.hour + 92 * 24 }])).toBeNull();
  expect(await quotas.take([claim])).toBe(claim);
  await quotas.clean(NOW);
  expect(await quotas.take([claim])).toBeNull();
});

it('a decision without its document delays only that document', async () => {
  const [own, other] = [received(), received()];
  const { env, buyerRnc, issuerRnc, encf: number } = own;
  let open: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    open = resolve;
  });
  let locked: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  // A slow decision, as on a slow disk.
  const slow = database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(document_number_lock($1, $2, $3, $4))', [
      env,
      buyerRnc,
      issuerRnc,
      number,
    ]);
    await tx.query(
      `INSERT INTO early_decisions (env, buyer_rnc, issuer_rnc, encf, revision, approval_status) VALUES ($1, $2, $3, $4, 1, 'approved')`,
      [env, buyerRnc, issuerRnc, number],
    );
    locked();
    await held;
  });
  await ready;
  const waitsForLock = async () =>
    (await database.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount > 0;
  let arrived = false;
  const waiting = documents.add(own).then(() => {
    arrived = true;
  });
  try {
    // Concurrent arrivals share a statement; the other one comes later.
    while (!(await waitsForLock())) await delay(10);
    expect(await documents.add(other)).toEqual(expect.any(Number));
    await documents.decide(decision(received(), 1, 'approved'), randomUUID());
    expect(arrived).toBe(false);
  } finally {
    open();
    await Promise.all([slow, waiting]);
  }
  expect(await listedOne(documents, own)).toMatchObject({ approvalStatus: 'approved' });
});

it('a signer is known by its key, and by its holder where both certificates led to trusted issuers', async () => {
  const later = new Date(NOW.getTime() + 1_000);
  const use = (rnc: string, signer: Partial<SignerFacts>, at = later): SignerUse => ({
    env: 'TesteCF',
    rnc,
    signer: { ...SIGNER, holderId: '00100000017', ...signer },
    at,
  });
  await noteKnownSigner(database, use(PROVIDER, { keyFingerprint: 'own key' }, NOW));
  await noteKnownSigner(database, use(OTHER_PROVIDER, { keyFingerprint: 'vouched for', trusted: true }, NOW));
  const cases: [SignerUse, boolean][] = [
    [use(PROVIDER, { keyFingerprint: 'own key' }), true],
    [use(PROVIDER, { keyFingerprint: 'own key' }, NOW), false],
    [use(PROVIDER, { keyFingerprint: 'renewed', trusted: true }), false],
    [use(PROVIDER, { keyFingerprint: 'vouched for' }), false],
    [{ ...use(PROVIDER, { keyFingerprint: 'own key' }), env: 'eCF' }, false],
    [use(OTHER_PROVIDER, { keyFingerprint: 'renewed', trusted: true }), true],
    [use(OTHER_PROVIDER, { keyFingerprint: 'forged', trusted: null }), false],
    [use(OTHER_PROVIDER, { keyFingerprint: 'another', trusted: true, holderId: '00100000025' }), false],
    [use(OTHER_PROVIDER, { keyFingerprint: 'no holder', trusted: true, holderId: null }), false],
  ];
  expect(
    await areKnownSigners(
      database,
      cases.map(([one]) => one),
    ),
  ).toEqual(cases.map(([, known]) => known));
});

it('private keys and certificates are sealed in the database', async () => {
  const { rows } = await database.query<{ private_jwk: Buffer }>('SELECT private_jwk FROM token_keys');
  expect(rows.map((row) => row.private_jwk.toString('latin1')).join()).not.toContain('secret');
});

it('token keys are sealed anew under the newest master key, and then open without the older one', async () => {
  const fresh = randomBytes(32);
  const before = await createTokenKeys(database, createMasterKeys([MASTER_KEY])).all();
  const [newest] = createMasterKeys([fresh]).keyIds;
  const head = sealHead(newest as string);
  const stranger = sealedTokenKeys(database, createMasterKeys([fresh]));
  await expect(stranger.reseal(head, 10)).rejects.toMatchObject({ status: 409, code: 'conflict' });
  const values = sealedTokenKeys(database, createMasterKeys([fresh, MASTER_KEY]));
  expect(before.length).toBeGreaterThan(0);
  expect(await values.count(head)).toBe(before.length);
  // Two instances at the same time, and one of them once more.
  await Promise.all([values.reseal(head, 10), values.reseal(head, 10)]);
  expect([await values.count(head), await values.reseal(head, 10)]).toEqual([0, 0]);
  expect(await createTokenKeys(database, createMasterKeys([fresh])).all()).toEqual(before);
});
