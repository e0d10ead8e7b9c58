import type { InvoiceAggregate } from '@ecf/contracts';
import { INVOICE_STATUSES } from '@ecf/domain';
import { fromCents, toCents } from './cents.js';

/** Sums of the documents of a month, type and status; amounts are decimals, credit notes negative. */
export interface InvoiceSums {
  /** `YYYY-MM` */
  readonly month: string;
  readonly ecf_type: InvoiceAggregate['by_type'][number]['ecf_type'];
  readonly status: InvoiceAggregate['by_status'][number]['status'];
  readonly count: number;
  readonly amount: string;
  readonly itbis: string;
}

/** Sums of the accepted documents of a buyer. */
export interface ClientSums {
  readonly buyer_rnc: string | null;
  readonly buyer_name: string | null;
  readonly count: number;
  readonly amount: string;
}

/** What an aggregate is made of, in one snapshot of the read models. */
export interface Sums {
  readonly invoices: readonly InvoiceSums[];
  readonly clients: readonly ClientSums[];
  readonly days: InvoiceAggregate['by_day'];
  /** Empty unless the period is one day. */
  readonly hours: NonNullable<InvoiceAggregate['by_hour']>;
  readonly codes: InvoiceAggregate['by_code'];
}

type Totals = Pick<InvoiceAggregate, 'total_invoices' | 'counted' | 'total_amount' | 'total_itbis'>;
type Breakdowns = Pick<InvoiceAggregate, 'by_month' | 'by_type' | 'by_status' | 'top_clients' | 'by_day' | 'by_code'>;

interface Totalled {
  count: number;
  amount: bigint;
  itbis: bigint;
}

/** The sums of an answer. All documents count; amounts and breakdowns by amount contain accepted ones only. */
export function aggregate({ invoices: rows, clients, days, codes }: Omit<Sums, 'hours'>): Totals & Breakdowns {
  const accepted = rows.filter(({ status }) => isAccepted(status));
  const total = sumOf(accepted);
  return {
    total_invoices: sumOf(rows).count,
    counted: total.count,
    total_amount: fromCents(total.amount),
    total_itbis: fromCents(total.itbis),
    by_month: grouped(accepted, ({ month }) => month)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([month, sums]) => ({ month, ...withItbis(sums) })),
    by_type: grouped(accepted, ({ ecf_type }) => ecf_type)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([ecf_type, sums]) => ({ ecf_type, ...withItbis(sums) })),
    by_status: grouped(rows, ({ status }) => status)
      .sort(([one], [other]) => INVOICE_STATUSES.indexOf(one) - INVOICE_STATUSES.indexOf(other))
      .map(([status, { count, amount }]) => ({ status, count, total_amount: fromCents(amount) })),
    top_clients: clients.map(({ buyer_rnc, buyer_name, count, amount }) => ({
      buyer_rnc,
      buyer_name,
      count,
      total_amount: fromCents(toCents(amount)),
    })),
    by_day: days,
    by_code: codes,
  };
}

/** Conditional acceptance is acceptance: the document is fiscally valid. */
function isAccepted(status: string): boolean {
  return status === 'Aceptado' || status === 'AceptadoCondicional';
}

function sumOf(rows: readonly InvoiceSums[]): Totalled {
  const sums: Totalled = { count: 0, amount: 0n, itbis: 0n };
  for (const { count, amount, itbis } of rows) {
    sums.count += count;
    sums.amount += toCents(amount);
    sums.itbis += toCents(itbis);
  }
  return sums;
}

function grouped<K>(rows: readonly InvoiceSums[], keyOf: (row: InvoiceSums) => K): [K, Totalled][] {
  const groups = new Map<K, InvoiceSums[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return [...groups].map(([key, group]) => [key, sumOf(group)]);
}

function withItbis({ count, amount, itbis }: Totalled) {
  return { count, total_amount: fromCents(amount), total_itbis: fromCents(itbis) };
}
