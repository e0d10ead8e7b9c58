import type { Answer, DirectoryEntry } from '@ecf/authority-client';
import { expect, it } from '@jest/globals';
import { type DeliveryOfPorts, deliveryOf } from '../src/core/delivery.js';
import { type Caller, createReceivers } from '../src/core/receivers.js';
import { issuedInvoice } from './support/world.js';

const RNC = '120000001';
const caller = { env: 'TesteCF', account: 'a', certificate: { fingerprint: 'f' } } as Caller;
const MINUTE = 60_000;

/** Receivers over a directory that a test writes, with entries believed for ten minutes. */
function directory() {
  const now = Date.parse('2026-06-23T12:00:00Z');
  const book = { now, elapsed: 0, asked: 0, entry: null as DirectoryEntry | null, gone: false };
  const unused = () => Promise.reject(new Error('not asked here'));
  const receivers = createReceivers({
    authority: {
      findInDirectory: async () => {
        book.asked += 1;
        if (book.gone)
          return { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe', detail: 'x', raw: null };
        return { outcome: 'verdict', verdict: book.entry, raw: {} } as Answer<DirectoryEntry | null>;
      },
    },
    receivers: { receiverSeed: unused, receiverToken: unused },
    tokens: { get: async () => ({ token: 't' }), invalidate: async () => undefined } as never,
    clock: () => new Date(book.now),
    elapsed: () => book.elapsed,
    entryLifeMs: 10 * MINUTE,
  });
  const pass = (ms: number) => {
    book.now += ms;
    book.elapsed += ms;
  };
  return { book, pass, receivers };
}

function listed(addresses: Partial<DirectoryEntry>): DirectoryEntry {
  const none = { receptionUrl: null, approvalUrl: null, authenticationUrl: null };
  return { rnc: RNC, name: 'X', ...none, ...addresses } as DirectoryEntry;
}

it('a document for a buyer that was just looked up in vain waits for the next look-up, which is near', async () => {
  const { book, pass, receivers } = directory();
  const ports: DeliveryOfPorts = {
    deliverySettings: { deliver45: false, deadlineMs: 72 * 60 * MINUTE },
    receivers,
    clock: () => new Date(book.now),
    random: () => 0.5,
  };
  const invoice = issuedInvoice('E310000000001', { buyer_rnc: RNC });
  expect(deliveryOf(invoice, ports, null)).toMatchObject({ status: 'pending', dueAt: new Date(book.now) });
  await receivers.find(caller, RNC, 'receptionUrl');
  const end = book.now + 10_000;
  pass(9_000);
  const waiting = deliveryOf(invoice, ports, null);
  expect(waiting).toMatchObject({ status: 'no_receiver', dueAt: new Date(end + 2_500) });
  pass(1_000);
  expect(deliveryOf(invoice, ports, null)?.status).toBe('pending');
});

it('of a crowd that waits for the next look-up one asks; who came later, or asks again, is told the directory’s own word', async () => {
  const { book, pass, receivers } = directory();
  await receivers.find(caller, RNC, 'receptionUrl');
  const came = new Date(book.now + 1_000);
  pass(12_000);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  pass(500);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  expect(book.asked).toBe(2);
  book.entry = listed({ receptionUrl: 'https://buyer.example' });
  expect(await receivers.find(caller, RNC, 'receptionUrl', new Date(book.now))).toBe(book.entry);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  expect(book.asked).toBe(3);
});

it('an entry is believed while the address that is asked for is in it, and looked up afresh where it is not', async () => {
  const { book, receivers } = directory();
  const receptionUrl = 'https://issuer.example';
  book.entry = listed({ receptionUrl });
  for (const _ of [1, 2]) await receivers.find(caller, RNC, 'receptionUrl');
  expect(book.asked).toBe(1);
  book.entry = listed({ receptionUrl, approvalUrl: 'https://approvals.example' });
  expect((await receivers.find(caller, RNC, 'receptionUrl'))?.approvalUrl).toBeNull();
  expect((await receivers.find(caller, RNC, 'approvalUrl'))?.approvalUrl).toBe('https://approvals.example');
  expect(book.asked).toBe(2);
  await receivers.find(caller, RNC, 'approvalUrl');
  expect(book.asked).toBe(2);
});

it('a directory that does not answer: an old entry is used on where it has the address, and decides nothing where it has not', async () => {
  const { book, pass, receivers } = directory();
  book.entry = listed({ receptionUrl: 'https://issuer.example' });
  await receivers.find(caller, RNC, 'receptionUrl');
  book.gone = true;
  pass(11 * MINUTE);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  await expect(receivers.find(caller, RNC, 'approvalUrl')).rejects.toThrow('the directory gave no answer');
});

it('a clock that is set back makes nothing believed for longer', async () => {
  const { book, receivers } = directory();
  const HOUR = 60 * MINUTE;
  await receivers.find(caller, RNC, 'receptionUrl');
  book.now -= HOUR;
  book.elapsed += 9_000;
  expect(receivers.missedUntil('TesteCF', RNC)).toEqual(new Date(book.now + 1_000));
  book.elapsed += 1_000;
  expect(receivers.missedUntil('TesteCF', RNC)).toBeNull();
  book.entry = listed({ receptionUrl: 'https://buyer.example' });
  await receivers.find(caller, RNC, 'receptionUrl');
  book.now -= HOUR;
  book.elapsed += 10 * MINUTE;
  await receivers.find(caller, RNC, 'receptionUrl');
  expect(book.asked).toBe(3);
});
