import { type InvoiceAggregate, type InvoiceChanged, PERIODS } from '@ecf/contracts';
import { ECF_TYPES, type EmissionState, toCalendarDate, toIsoDominican } from '@ecf/domain';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aggregate } from '../../src/invoices/aggregate.js';
import { createPostgresInvoices } from '../../src/invoices/invoices.postgres.js';
import { type IssuedInvoice, issuedInvoice } from '../../src/invoices/issued-invoice.js';
import type { InvoiceFilter, InvoiceStore, Projection } from '../../src/invoices/ports.js';
import { createPostgresProjection } from '../../src/invoices/projection.postgres.js';
import { encf, invoice } from '../support/events.js';
import { type Random, seeded } from '../support/random.js';

const SEED = Number(process.env.ROLLUP_SEED ?? Date.now() % 1_000_000);
const ISSUERS = ['199999991', '131880681'];
const BUYERS = ['188888885', '101010101', '00100000009', null];
const STATES: EmissionState[] = [
  'sending',
  'processing',
  'accepted',
  'conditional',
  'rejected-reusable',
  'rejected-used',
  'not-found',
  'withdrawn',
];
const CODES = ['1209', '1209', '2096', ''];
const FIRST_DAY = Date.UTC(2025, 10, 20, 3, 59, 58);
const SPAN_SECONDS = 500 * 86_400;

const PLAIN = {
  criteria: {
    status: null,
    ecfType: null,
    buyerRnc: null,
    buyerName: null,
    deliveryStatuses: null,
    messageCode: null,
    modifiedEncf: null,
    reference: null,
    minAmount: null,
    maxAmount: null,
    updatedSince: null,
    superseded: null,
  },
  sort: '-created_at',
  place: null,
} as const;

let database: Database;
let invoices: InvoiceStore;
let projection: Projection;

beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase('query');
  database = openDatabase(url, { max: 6, connectTimeoutMs: 60_000 });
  invoices = createPostgresInvoices(database);
  projection = createPostgresProjection(database);
});
afterAll(() => database.close());

/** The history of a document: random states, and other content after a rejection. */
function history(random: Random, sequence: number): InvoiceChanged[] {
  const issuer_rnc = random.pick(ISSUERS);
  const ecf_type = random.pick(ECF_TYPES);
  const created = new Date(FIRST_DAY + random.between(0, SPAN_SECONDS) * 1_000);
  const issued = () => toCalendarDate(new Date(created.getTime() - random.between(-2, 40) * 86_400_000));
  const cents = () => `${random.between(0, 9_999_999)}.${String(random.between(0, 99)).padStart(2, '0')}`;
  let content = {};
  let revision = 0;
  return Array.from({ length: random.between(1, 6) }, (_, step) => {
    if (step === 0 || random.next() < 0.2) {
      const buyer_rnc = random.pick(BUYERS);
      content = {
        buyer_rnc,
        buyer_name: buyer_rnc === null ? null : `Nombre ${random.between(1, 4)} de ${buyer_rnc}`,
        total_amount: cents(),
        total_itbis: cents(),
        date_issued: issued(),
      };
    }
    revision += random.between(1, 3);
    return invoice({
      sequence,
      issuer_rnc,
      ecf_type,
      encf: encf(ecf_type, sequence),
      created_at: toIsoDominican(created),
      revision,
      state: random.pick(STATES),
      messages: CODES.filter(() => random.next() < 0.5).map((codigo) => ({ codigo, valor: 'Dice' })),
      ...content,
    });
  });
}

/** The expected answer, computed by a scan of all documents. */
function scan(all: readonly IssuedInvoice[], { period, issuerRnc, first, last }: InvoiceFilter, top: number) {
  const dayOf = (one: IssuedInvoice) => (period === 'issued' ? one.dateIssued : toCalendarDate(one.createdAt));
  const cents = (amount: string) => BigInt(amount.replace('.', ''));
  const text = (sum: bigint) =>
    `${sum < 0n ? '-' : ''}${String(sum < 0n ? -sum : sum).padStart(3, '0')}`.replace(/(..)$/, '.$1');
  const within = all.filter((one) => {
    const day = dayOf(one);
    return one.listed && one.issuerRnc === issuerRnc && first <= day && day <= last;
  });
  const signed = (one: IssuedInvoice, amount: string) => (one.ecfType === '34' ? -cents(amount) : cents(amount));
  const sums = (some: readonly IssuedInvoice[]) => ({
    count: some.length,
    total_amount: text(some.reduce((sum, one) => sum + signed(one, one.totalAmount), 0n)),
    total_itbis: text(some.reduce((sum, one) => sum + signed(one, one.totalItbis), 0n)),
  });
  const accepted = within.filter(({ status }) => status === 'Aceptado' || status === 'AceptadoCondicional');
  const by = <K>(some: readonly IssuedInvoice[], keyOf: (one: IssuedInvoice) => K) =>
    [...new Set(some.map(keyOf))].map((key) => [key, some.filter((one) => keyOf(one) === key)] as const);
  const clients = by(accepted, ({ buyerRnc }) => buyerRnc).map(([buyer_rnc, some]) => {
    const latest = [...some].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)[0];
    const { count, total_amount } = sums(some);
    return { buyer_rnc, buyer_name: buyer_rnc === null ? null : (latest?.buyerName ?? null), count, total_amount };
  });
  clients.sort((a, b) => {
    const distance = cents(b.total_amount) - cents(a.total_amount);
    return distance === 0n ? (a.buyer_rnc ?? '~').localeCompare(b.buyer_rnc ?? '~') : distance > 0n ? 1 : -1;
  });
  const { count: counted, ...totals } = sums(accepted);
  return {
    total_invoices: within.length,
    counted,
    ...totals,
    by_month: by(accepted, (one) => dayOf(one).slice(0, 7)).map(([month, some]) => ({
      month,
      ...sums(some),
    })),
    by_type: by(accepted, ({ ecfType }) => ecfType).map(([ecf_type, some]) => ({ ecf_type, ...sums(some) })),
    by_status: by(within, ({ status }) => status).map(([status, some]) => {
      const { count, total_amount } = sums(some);
      return { status, count, total_amount };
    }),
    top_clients: clients.slice(0, top),
    by_day: by(within, (one) => `${dayOf(one)} ${one.status}`).map(([key, some]) => ({
      ...{ day: key.slice(0, 10), status: key.slice(11), count: some.length },
    })),
    by_code: ['1209', '2096']
      .map((code) => ({
        code,
        message: 'Dice',
        count: within.filter(
          ({ status, messages }) => status === 'Rechazado' && messages.some(({ codigo }) => codigo === code),
        ).length,
      }))
      .filter(({ count }) => count > 0),
    newest: [...within].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id),
  };
}

const counts = (codes: readonly { code: string; count: number }[]) =>
  Object.fromEntries(codes.map(({ code, count }) => [code, count]));
const ordered = (breakdown: readonly object[]) => breakdown.map((row) => JSON.stringify(row)).sort();

describe(`sums kept along with the documents (ROLLUP_SEED=${SEED})`, () => {
  const random = seeded(SEED);
  let truth: IssuedInvoice[];

  beforeAll(async () => {
    const histories = Array.from({ length: 400 }, (_, index) => history(random, index + 1));
    // Every event once or more often, in any order, single or in batches, concurrently.
    const events = random.shuffled(
      histories.flatMap((states) =>
        states.flatMap((state) => Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => state)),
      ),
    );
    const work: Promise<void>[] = [];
    for (let at = 0; at < events.length; ) {
      const some = events.slice(at, at + random.pick([1, 1, 1, 40])).map(issuedInvoice);
      at += some.length;
      work.push(projection.keepInvoices(some));
      if (work.length % 120 === 0) await Promise.all(work.splice(0));
    }
    await Promise.all(work);
    truth = histories.map((states) => issuedInvoice(states.at(-1) as InvoiceChanged));
  });

  it('equal a scan of all documents to the cent, for any period', async () => {
    for (let run = 0; run < 60; run += 1) {
      const from = new Date(FIRST_DAY + random.between(-3, 500) * 86_400_000);
      const to = new Date(
        from.getTime() + random.pick([0, 1, 28, 30, 31, 180, 364, 365, random.between(0, 500)]) * 86_400_000,
      );
      const [first, last] = [toCalendarDate(from), toCalendarDate(to)];
      const issuerRnc = random.pick(ISSUERS);
      const top = random.pick([1, 2, 50]);
      const period = random.pick(PERIODS);
      const filter = { env: 'TesteCF', period, issuerRnc, first, last } as const;
      const { newest, ...expected } = scan(truth, filter, top);
      const sums = await invoices.sums(filter, top);
      const answer: Omit<InvoiceAggregate, 'issuer_rnc' | 'start_date' | 'end_date' | 'env' | 'by_hour'> =
        aggregate(sums);
      const context = { run, period, issuerRnc, first, last };
      expect({
        ...context,
        ...answer,
        by_month: ordered(answer.by_month),
        by_type: ordered(answer.by_type),
        by_status: ordered(answer.by_status),
        by_day: ordered(answer.by_day),
        by_code: counts(answer.by_code),
      }).toEqual({
        ...context,
        ...expected,
        by_month: ordered(expected.by_month),
        by_type: ordered(expected.by_type),
        by_status: ordered(expected.by_status),
        by_day: ordered(expected.by_day),
        by_code: counts(expected.by_code),
      });
      const hours = new Map<number, number>();
      for (const { createdAt } of first === last ? newest : []) {
        const hour = (createdAt.getUTCHours() + 20) % 24;
        hours.set(hour, (hours.get(hour) ?? 0) + 1);
      }
      expect(new Map(sums.hours.map(({ hour, count }) => [hour, count]))).toEqual(hours);
      expect(await invoices.count(filter)).toBe(newest.length);
      const offset = random.between(0, newest.length + 3);
      const page = await invoices.list(filter, { ...PLAIN, limit: 25, offset });
      expect(page.total).toBe(newest.length);
      expect(page.invoices.map(({ id }) => id)).toEqual(newest.slice(offset, offset + 25).map(({ id }) => id));
    }
  });

  it('are ordered by month and type, and for clients by amount and then by RNC', async () => {
    const sums = await invoices.sums(
      { env: 'TesteCF', period: 'created', issuerRnc: ISSUERS[0] as string, first: '2025-01-01', last: '2027-12-31' },
      50,
    );
    const answer = aggregate(sums);
    const months = answer.by_month.map(({ month }) => month);
    expect(months).toEqual([...months].sort());
    const types = answer.by_type.map(({ ecf_type }) => ecf_type);
    expect(types).toEqual([...types].sort());
    expect(answer.top_clients.filter(({ buyer_rnc }) => buyer_rnc === null)).toHaveLength(1);
  });

  it('exclude other issuers and environments', async () => {
    const dates = { period: 'issued', first: '2025-01-01', last: '2027-12-31' } as const;
    const elsewhere = { env: 'eCF', issuerRnc: ISSUERS[0] as string, ...dates } as const;
    expect(await invoices.count(elsewhere)).toBe(0);
    expect(await invoices.sums(elsewhere, 10)).toEqual({ invoices: [], clients: [], days: [], hours: [], codes: [] });
    expect(await invoices.list(elsewhere, { ...PLAIN, limit: 10, offset: 0 })).toEqual({
      total: 0,
      invoices: [],
      next: null,
    });
  });

  it('show the highest published revision of a document', async () => {
    for (const one of truth.slice(0, 50)) {
      const found = await invoices.find(one);
      expect(found?.revision ?? null).toBe(one.listed ? one.revision : null);
      if (found !== null)
        expect(found).toMatchObject({ status: one.status, totalAmount: one.totalAmount, buyerName: one.buyerName });
    }
  });
});
