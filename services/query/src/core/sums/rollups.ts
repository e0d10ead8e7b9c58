import { PERIODS, type Period } from '@ecf/contracts';
import type { CalendarDate } from '@ecf/domain';
import { dayOf, type IssuedInvoice } from '../invoices/issued-invoice.js';
import { fromCents, toCents } from './cents.js';
import { bucketOf, GRAINS, type Grain } from './periods.js';

/** The values of a document that the sums contain. */
export type Counted = Pick<
  IssuedInvoice,
  | 'env'
  | 'issuerRnc'
  | 'listed'
  | 'ecfType'
  | 'status'
  | 'buyerRnc'
  | 'dateIssued'
  | 'createdAt'
  | 'totalAmount'
  | 'totalItbis'
>;

/** A change of an issuer's sums by day, type and status. Amounts are decimals with two decimals. */
export interface InvoiceDelta {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly period: Period;
  readonly day: CalendarDate;
  readonly ecf_type: string;
  readonly status: string;
  readonly count: number;
  readonly amount: string;
  readonly itbis: string;
}

/** A change of an issuer's sums of accepted documents by buyer and day or month. */
export interface BuyerDelta {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly period: Period;
  readonly grain: Grain;
  readonly bucket: CalendarDate;
  /** Empty for documents without an RNC of the buyer. */
  readonly buyer_rnc: string;
  readonly count: number;
  readonly amount: string;
}

/** Credit notes (34) count negative. */
export function sign(ecfType: string): 1n | -1n {
  return ecfType === '34' ? -1n : 1n;
}

/** Conditional acceptance is acceptance: the document is fiscally valid. */
export function isAccepted(status: string): boolean {
  return status === 'Aceptado' || status === 'AceptadoCondicional';
}

interface Sums {
  count: number;
  amount: bigint;
  itbis: bigint;
}

/** Collects the changes of the sums by several documents, so that each row is written once. */
export class RollupChanges {
  readonly #invoices = new Map<string, Sums>();
  readonly #buyers = new Map<string, Sums>();

  /** Replaces a document; `before` is null for a new one. */
  replace(before: Counted | null, after: Counted): void {
    if (before?.listed === true) this.#count(before, -1);
    if (after.listed) this.#count(after, 1);
  }

  /** Rows that change. */
  invoices(): InvoiceDelta[] {
    return changed(this.#invoices).map(([row, { count, amount, itbis }]) => {
      const [env, issuer_rnc, period, day, ecf_type, status] = JSON.parse(row);
      const amounts = { amount: fromCents(amount), itbis: fromCents(itbis) };
      return { env, issuer_rnc, period, day, ecf_type, status, count, ...amounts };
    });
  }

  buyers(): BuyerDelta[] {
    return changed(this.#buyers).map(([row, { count, amount }]) => {
      const [env, issuer_rnc, period, grain, bucket, buyer_rnc] = JSON.parse(row);
      return { env, issuer_rnc, period, grain, bucket, buyer_rnc, count, amount: fromCents(amount) };
    });
  }

  #count(document: Counted, times: 1 | -1): void {
    const factor = sign(document.ecfType) * BigInt(times);
    const amount = toCents(document.totalAmount) * factor;
    const itbis = toCents(document.totalItbis) * factor;
    const { env, issuerRnc, ecfType, status, buyerRnc } = document;
    for (const period of PERIODS) {
      const day = dayOf(document, period);
      add(this.#invoices, [env, issuerRnc, period, day, ecfType, status], times, amount, itbis);
      if (!isAccepted(status)) continue;
      for (const grain of GRAINS)
        add(this.#buyers, [env, issuerRnc, period, grain, bucketOf(day, grain), buyerRnc ?? ''], times, amount, itbis);
    }
  }
}

function add(rows: Map<string, Sums>, key: readonly string[], times: number, amount: bigint, itbis: bigint): void {
  const row = JSON.stringify(key);
  const sums = rows.get(row) ?? { count: 0, amount: 0n, itbis: 0n };
  rows.set(row, { count: sums.count + times, amount: sums.amount + amount, itbis: sums.itbis + itbis });
}

/** In the order of their keys, so that no two statements lock rows crosswise. */
function changed(rows: Map<string, Sums>): [string, Sums][] {
  return [...rows]
    .filter(([, { count, amount, itbis }]) => count !== 0 || amount !== 0n || itbis !== 0n)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
