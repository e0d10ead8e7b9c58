import { dominicanDays } from '@ecf/domain';
import { columnOf, type SeekPlace, sortedWithin } from '@ecf/service-kit/listings';
import type { InvoiceFilter, Page } from '../core/ports.js';
import { monthsAndDays } from '../core/sums/periods.js';
import { columns, OVER_STRETCHES, SHOWN } from './invoices-sql.js';

/** The first document of a page by its place in the list without criteria: created before `until`, `offset` later. */
export interface Start {
  readonly until: Date;
  readonly offset: number;
}

/**
 * One page, and one row more if there is a next one, with the total of the same moment. An index of the sort gives the
 * keys. The sums of days give the total if no buyer, reference, amount or time of change restricts it. Otherwise the rows are
 * counted, for the first page only.
 *
 * @param start null = only the total
 */
export function listQuery(filter: InvoiceFilter, page: Page, start: Start | null) {
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const { criteria, sort, place } = page;
  const [env, issuer] = [value(filter.env), value(filter.issuerRnc)];
  const column = columnOf(sort);
  const order = sort.startsWith('-') ? 'DESC' : 'ASC';
  const alike = matching(
    [
      ['status =', criteria.status, 'text'],
      ['ecf_type =', criteria.ecfType, 'text'],
    ],
    value,
  );
  const { from, until } = dominicanDays(filter.first, filter.last);
  const typed = (given: Date | string | null, type: string) => (given === null ? null : `${value(given)}::${type}`);
  const uncounted = matching(
    [
      ['buyer_rnc =', criteria.buyerRnc, 'text'],
      ['reference =', criteria.reference, 'text'],
    ],
    value,
  );
  const changed =
    criteria.updatedSince === null
      ? ''
      : ` AND encf IN (SELECT encf FROM public.invoice_change
           WHERE env = ${env} AND issuer_rnc = ${issuer} AND updated_at >= ${typed(criteria.updatedSince, 'timestamptz')})`;
  const amounts = {
    least: typed(criteria.minAmount, 'numeric'),
    most: typed(criteria.maxAmount, 'numeric'),
    mostIncluded: true,
  };
  const type = column === 'created_at' ? 'timestamptz' : 'numeric';
  const after: SeekPlace | null = place && { order, value: `${typed(place.value, type)}`, id: value(place.id) };
  const matched = (before: Date, seek: SeekPlace | null) =>
    [
      `env = ${env} AND issuer_rnc = ${issuer} AND listed${alike}${uncounted}${changed}`,
      ...sortedWithin(
        'created_at',
        { least: typed(from, 'timestamptz'), most: typed(before, 'timestamptz'), mostIncluded: false },
        column === 'created_at' ? seek : null,
      ),
      ...sortedWithin('total_amount', amounts, column === 'total_amount' ? seek : null),
    ].join(' AND ');
  const total = () => {
    if (uncounted === '' && changed === '' && amounts.least === null && amounts.most === null)
      return `SELECT coalesce(sum(r.count), 0)::bigint AS total
        ${OVER_STRETCHES(columns(monthsAndDays(filter.first, filter.last)).map(value))} WHERE true${alike}`;
    if (place !== null) return `SELECT ${value(place.total)}::bigint AS total`;
    return `SELECT count(*) AS total FROM public.invoice WHERE ${matched(until, null)}`;
  };
  const limit = start === null ? 0 : page.limit + 1;
  const text = `WITH all_of_them AS (${total()}),
    page AS MATERIALIZED (
      SELECT env, encf, issuer_rnc FROM public.invoice
       WHERE ${matched(start?.until ?? until, after)}
       ORDER BY ${column} ${order}, id ${order} LIMIT ${value(limit)} OFFSET ${value(start?.offset ?? 0)}),
    rows AS (
      SELECT ${SHOWN} FROM page p
        JOIN public.invoice i ON i.env = p.env AND i.encf = p.encf AND i.issuer_rnc = p.issuer_rnc)
    SELECT t.total, rows.* FROM all_of_them t LEFT JOIN rows ON true
     ORDER BY rows.${column} ${order}, rows.id ${order}`;
  // The usual page is planned once for all; the best plan of others depends on their values.
  return isPlain(page) ? { statement: { name: 'invoices_list', text }, values } : { statement: text, values };
}

/** Whether a page is one of the newest first, without criteria or place. */
export function isPlain({ criteria, sort, place }: Page): boolean {
  return sort === '-created_at' && place === null && Object.values(criteria).every((criterion) => criterion === null);
}

function matching(
  conditions: readonly (readonly [condition: string, given: string | null, type: string])[],
  value: (given: unknown) => string,
): string {
  return conditions
    .flatMap(([condition, given, type]) => (given === null ? [] : [` AND ${condition} ${value(given)}::${type}`]))
    .join('');
}
