import { APPROVABLE_TYPES, dominicanDays, environmentRun, storedEnvironment } from '@ecf/domain';
import { columnOf, type SeekPlace, sortedWithin } from '@ecf/http';
import type { DeliveryStatus, InvoiceFilter, Page } from './ports.js';

const seenIn = (table: string, column: string) =>
  `(SELECT ${column} FROM ${table} t WHERE t.env = i.env AND t.encf = i.encf AND t.issuer_rnc = i.issuer_rnc)`;
// Sub-queries, row by row: the plan of a join would depend on outdated row counts of these tables.
export const SHOWN = `i.*, ${seenIn('delivery', 'status')} AS delivery, ${seenIn('buyer_decision', 'status')} AS decision,
  coalesce(${seenIn('buyer_decision', 'confirmed')}, false) AS confirmed`;

/**
 * One page, and one row more if there is a next one, with the total of the same moment. An index of the sort gives the
 * keys. The sums of days give the total if only status or type restrict it. Otherwise the rows are
 * counted, for the first page only. A period by date of issue gets the times at which its documents were created (`span`), so that an
 * index scan in the order of creation begins and ends there.
 */
export function listQuery(filter: InvoiceFilter, page: Page) {
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const { criteria, sort, place } = page;
  const runs = criteria.superseded === null ? [filter.env] : runsUpTo(filter.env);
  const ofRuns = runs.length === 1 ? `env = ${value(filter.env)}` : `env IN (${runs.map(value).join(', ')})`;
  const issuer = value(filter.issuerRnc);
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
      ['modified_encf =', criteria.modifiedEncf, 'text'],
      ['reference =', criteria.reference, 'text'],
    ],
    value,
  );
  const named =
    criteria.buyerName === null
      ? ''
      : ` AND strpos(${folded('buyer_name')}, ${folded(`${value(criteria.buyerName)}::text`)}) > 0`;
  const rejected =
    criteria.messageCode === null
      ? ''
      : ` AND status = 'Rechazado' AND EXISTS (SELECT FROM json_array_elements(messages) AS m
           WHERE m->>'codigo' = ${value(criteria.messageCode)})`;
  const changed =
    criteria.updatedSince === null
      ? ''
      : ` AND (env, encf) IN (SELECT env, encf FROM invoice_change
           WHERE ${ofRuns} AND issuer_rnc = ${issuer} AND updated_at >= ${typed(criteria.updatedSince, 'timestamptz')})`;
  const delivered =
    criteria.deliveryStatuses === null
      ? ''
      : deliveredAs(criteria.deliveryStatuses, `${ofRuns} AND issuer_rnc = ${issuer}`, value);
  const others = `${uncounted}${named}${rejected}${changed}${delivered}`;
  const amounts = {
    least: typed(criteria.minAmount, 'numeric'),
    most: typed(criteria.maxAmount, 'numeric'),
    mostIncluded: true,
  };
  const type = column === 'created_at' ? 'timestamptz' : 'numeric';
  const after: SeekPlace | null = place && { order, value: `${typed(place.value, type)}`, id: value(place.id) };
  const isIssued = filter.period === 'issued';
  const [firstDay, lastDay] = isIssued ? [typed(filter.first, 'date'), typed(filter.last, 'date')] : [];
  const createdWithin = isIssued
    ? { least: '(SELECT first FROM span)', most: '(SELECT last FROM span)', mostIncluded: true }
    : { least: typed(from, 'timestamptz'), most: typed(until, 'timestamptz'), mostIncluded: false };
  const matched = (seek: SeekPlace | null) =>
    [
      `${ofRuns} AND issuer_rnc = ${issuer} AND listed${alike}${others}`,
      ...(isIssued ? [`date_issued BETWEEN ${firstDay} AND ${lastDay}`] : []),
      ...sortedWithin('created_at', createdWithin, column === 'created_at' ? seek : null),
      ...sortedWithin('total_amount', amounts, column === 'total_amount' ? seek : null),
    ].join(' AND ');
  const total = () => {
    if (others === '' && amounts.least === null && amounts.most === null)
      return `SELECT coalesce(sum(count), 0)::bigint AS total FROM invoice_rollup
         WHERE ${ofRuns} AND issuer_rnc = ${issuer} AND period = ${value(filter.period)}
           AND day BETWEEN ${value(filter.first)} AND ${value(filter.last)}${alike}`;
    if (place !== null) return `SELECT ${value(place.total)}::bigint AS total`;
    return `SELECT count(*) AS total FROM invoice WHERE ${matched(null)}`;
  };
  const span = isIssued
    ? `span AS MATERIALIZED (
      SELECT min(created.first) AS first, max(created.last) AS last FROM (
          SELECT DISTINCT day FROM invoice_rollup
           WHERE ${ofRuns} AND issuer_rnc = ${issuer} AND period = 'issued' AND day BETWEEN ${firstDay} AND ${lastDay}) d
        CROSS JOIN LATERAL (SELECT min(created_at) AS first, max(created_at) AS last FROM invoice
          WHERE ${ofRuns} AND issuer_rnc = ${issuer} AND listed AND date_issued = d.day) AS created),
    `
    : '';
  const text = `WITH ${span}all_of_them AS (${total()}),
    page AS MATERIALIZED (
      SELECT env, encf, issuer_rnc FROM invoice
       WHERE ${matched(after)}
       ORDER BY ${column} ${order}, id ${order} LIMIT ${value(page.limit + 1)} OFFSET ${value(page.offset)}),
    rows AS (
      SELECT ${SHOWN} FROM page p
        JOIN invoice i ON i.env = p.env AND i.encf = p.encf AND i.issuer_rnc = p.issuer_rnc)
    SELECT t.total, rows.* FROM all_of_them t LEFT JOIN rows ON true
     ORDER BY rows.${column} ${order}, rows.id ${order}`;
  // The usual page is planned once for all values; the best plan of other pages depends on their values.
  return isPlain(page) && !isIssued
    ? { statement: { name: 'invoices_list', text }, values }
    : { statement: text, values };
}

/** Letters without their case and accents. The database is in UTF-8, which `normalize` needs. */
function folded(text: string): string {
  // grave, acute, circumflex, tilde, macron, diaeresis, ring, caron, cedilla
  const accents = String.raw`U&'\0300\0301\0302\0303\0304\0308\030A\030C\0327'`;
  return `lower(translate(normalize(${text}, NFD), ${accents}, ''))`;
}

/**
 * The condition that a document's delivery has one of the states. Before the first report the state follows from the document, as
 * `publicInvoice` shows it; the other states are read from the reports, which an index finds.
 */
function deliveredAs(statuses: readonly DeliveryStatus[], ofIssuer: string, value: (given: unknown) => string): string {
  const wanted = `= ANY(${value(statuses)}::text[])`;
  if (!statuses.some((status) => status === 'pending' || status === 'not_required'))
    return ` AND (env, encf) IN (SELECT env, encf FROM delivery WHERE ${ofIssuer} AND status ${wanted})`;
  const types = value(APPROVABLE_TYPES);
  const unreported = `CASE WHEN ecf_type = ANY(${types}::text[]) AND buyer_rnc IS NOT NULL AND status <> 'Rechazado'
      THEN 'pending' ELSE 'not_required' END`;
  return ` AND coalesce((SELECT t.status FROM delivery t WHERE t.env = invoice.env AND t.encf = invoice.encf
      AND t.issuer_rnc = invoice.issuer_rnc), ${unreported}) ${wanted}`;
}

/** Whether a page is one of the newest first, without criteria or place. */
function isPlain({ criteria, sort, place }: Page): boolean {
  return sort === '-created_at' && place === null && Object.values(criteria).every((criterion) => criterion === null);
}

/** The stored environments of a run and of those before it. */
function runsUpTo(stored: string): string[] {
  const { env, run: last } = environmentRun(stored);
  return Array.from({ length: last }, (_, index) => storedEnvironment({ env, run: index + 1 }));
}

function matching(
  conditions: readonly (readonly [condition: string, given: string | null, type: string])[],
  value: (given: unknown) => string,
): string {
  return conditions
    .flatMap(([condition, given, type]) => (given === null ? [] : [` AND ${condition} ${value(given)}::${type}`]))
    .join('');
}
