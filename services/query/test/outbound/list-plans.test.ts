import { LISTING_SORTS, type ListingSort } from '@ecf/contracts';
import { toCalendarDate } from '@ecf/domain';
import { columnOf } from '@ecf/http';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPostgresInvoices } from '../../src/invoices/invoices.postgres.js';
import { listQuery } from '../../src/invoices/list-sql.postgres.js';
import type { InvoiceCriteria, InvoiceFilter, Page, Place } from '../../src/invoices/ports.js';

const [ISSUER, OTHER] = ['199999991', '131880681'];
const ROWS = 40_000;
const LIMIT = 20;
const HALF = 0.5 * ROWS;
const ANY: InvoiceCriteria = {
  ...{
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
};
const FILTER: InvoiceFilter = {
  env: 'TesteCF',
  period: 'created',
  issuerRnc: ISSUER as string,
  first: toCalendarDate(new Date('2026-01-01T12:00:00Z')),
  last: toCalendarDate(new Date('2026-12-31T12:00:00Z')),
};

let database: Database;

/** One row a minute; half of the amounts repeat. One buyer, one type and one status have few rows. */
beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase('query');
  database = openDatabase(url, { max: 2 });
  for (const issuer of [ISSUER, OTHER])
    await database.query(
      `INSERT INTO invoice (env, encf, issuer_rnc, id, revision, listed, settled, ecf_type, route, status, messages, buyer_rnc,
          modified_encf, reference, date_issued, created_at, signed_at, total_amount, total_itbis, security_code, qr_url, xml_path, xml_checksum, attempts)
        SELECT 'TesteCF', 'E31' || lpad(n::text, 10, '0'), $1, n, 1, true, true, CASE WHEN n % 4000 = 1 THEN '41' ELSE '31' END,
          'ecf', CASE WHEN n % 4000 = 2 THEN 'EnProceso' ELSE 'Aceptado' END, '[]',
          CASE WHEN n % 4000 = 3 THEN '101010101' ELSE '188888885' END,
          CASE WHEN n % 4000 = 5 THEN 'E310000000007' END, 'order-' || n, at::date, at, at,
          CASE WHEN n % 2 = 0 THEN 118 ELSE n END, 18, 'aB+/9z', repeat('q', 200), repeat('p', 100), repeat('0', 64), '[]'
        FROM (SELECT n, timestamptz '2026-02-01 12:00:00Z' + n * interval '1 minute' AS at
                FROM generate_series(1, $2::int) AS n) AS rows`,
      [issuer, ROWS],
    );
  await database.query(
    `INSERT INTO invoice_rollup SELECT env, issuer_rnc, 'issued', date_issued, ecf_type, status, count(*), 0, 0 FROM invoice
      GROUP BY 1, 2, 4, 5, 6`,
  );
  await database.query('INSERT INTO invoice_change SELECT env, encf, issuer_rnc, 1, created_at FROM invoice');
  await database.query(
    `INSERT INTO delivery SELECT env, encf, issuer_rnc, 1, CASE WHEN id % 4000 = 4 THEN 'failed' ELSE 'delivered' END FROM invoice`,
  );
  await database.query('VACUUM (ANALYZE)');
});
afterAll(() => database.close());

function page(sort: ListingSort, place: Place | null, criteria: Partial<InvoiceCriteria> = {}): Page {
  return { criteria: { ...ANY, ...criteria }, sort, place, limit: LIMIT, offset: 0 };
}

/** Pages of the database that a listing reads. */
async function reads(wanted: Page, filter: InvoiceFilter = FILTER): Promise<number> {
  const { statement, values } = listQuery(filter, wanted);
  const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${typeof statement === 'string' ? statement : statement.text}`,
    values,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** The place in the middle of a listing. */
function middle(sort: ListingSort): Place {
  if (columnOf(sort) === 'total_amount') return { value: '118', id: HALF, total: ROWS };
  return { value: new Date(Date.UTC(2026, 1, 1, 12, HALF)).toISOString(), id: HALF, total: ROWS };
}

const PERIOD = { minAmount: '100.00', maxAmount: '39000.00' };

it.each(LISTING_SORTS)('a page in the middle costs as much as the first one, sorted by %s', async (sort) => {
  for (const criteria of [{}, { status: 'Aceptado' as const }, { ecfType: '31' as const }, PERIOD]) {
    const first = await reads(page(sort, null, columnOf(sort) === 'created_at' ? {} : criteria));
    const far = await reads(page(sort, middle(sort), criteria));
    expect([criteria, far <= first + 20]).toEqual([criteria, true]);
  }
});

// All rows are on three thousand pages of the database.
it.each(LISTING_SORTS)('criteria that few documents match read only these documents, sorted by %s', async (sort) => {
  for (const criteria of [
    { buyerRnc: '101010101' },
    { status: 'EnProceso' as const },
    { status: 'No encontrado' as const },
    { ecfType: '41' as const },
    { reference: 'order-7' },
    { ecfType: '47' as const },
    { minAmount: '39990.00' },
    { deliveryStatuses: ['failed' as const, 'refused' as const] },
    { messageCode: '1209' },
    { modifiedEncf: 'E310000000007' },
    { updatedSince: new Date(Date.UTC(2026, 1, 1, 12, ROWS - 10)) },
    { updatedSince: new Date(Date.UTC(2026, 1, 1, 12, ROWS - 10)), buyerRnc: '188888885' },
  ])
    for (const place of [null, { ...middle(sort), ...(columnOf(sort) === 'total_amount' ? { value: `${HALF}` } : {}) }])
      expect([criteria, (await reads(page(sort, place, criteria))) < 400]).toEqual([criteria, true]);
});

it.each(LISTING_SORTS)('a period by date of issue reads no documents of other days, sorted by %s', async (sort) => {
  for (const [first, last] of [
    ['2026-02-02', '2026-02-02'],
    ['2026-02-14', '2026-02-15'],
    ['2026-02-28', '2026-12-31'],
  ] as const)
    expect([first, (await reads(page(sort, null), { ...FILTER, period: 'issued', first, last })) < 500]).toEqual([
      first,
      true,
    ]);
});

it('a made-up place beyond the period or the amounts shows no rows outside them', async () => {
  const invoices = createPostgresInvoices(database);
  const days = { ...FILTER, first: toCalendarDate(new Date('2026-02-05T12:00:00Z')) };
  const until = { ...days, last: toCalendarDate(new Date('2026-02-06T12:00:00Z')) };
  const ids = async (sort: ListingSort, value: string, id: number, criteria: Partial<InvoiceCriteria> = {}) =>
    (await invoices.list(until, page(sort, { value, id, total: 1 }, criteria))).invoices.map((one) => one.id);
  const first = async (sort: ListingSort, criteria: Partial<InvoiceCriteria> = {}) =>
    (await invoices.list(until, page(sort, null, criteria))).invoices.map((one) => one.id);
  const amounts = { minAmount: '118.00', maxAmount: '6000.00' };
  expect((await first('created_at')).length).toBe(LIMIT);
  expect(await ids('-created_at', '2027-01-01T00:00:00.000Z', 7)).toEqual(await first('-created_at'));
  expect(await ids('-created_at', '2026-02-07T04:00:00.000Z', 10 ** 9)).toEqual(await first('-created_at'));
  expect(await ids('created_at', '2020-01-01T00:00:00.000Z', 10 ** 9)).toEqual(await first('created_at'));
  expect(await ids('created_at', '2027-01-01T00:00:00.000Z', 7)).toEqual([]);
  expect(await ids('-total_amount', '999999.00', 7, amounts)).toEqual(await first('-total_amount', amounts));
  expect(await ids('total_amount', '1.00', 10 ** 9, amounts)).toEqual(await first('total_amount', amounts));
  expect(await ids('-total_amount', '1.00', 7, amounts)).toEqual([]);
});
