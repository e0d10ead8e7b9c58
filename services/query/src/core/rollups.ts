import type { CalendarDate } from '@ecf/domain';
import { fromCents, toCents } from './cents.js';
import { dayOf, type IssuedInvoice } from './issued-invoice.js';
import { bucketOf, GRAINS, type Grain } from './periods.js';

/** What of a document the sums are made of. */
export type Counted = Pick<
  IssuedInvoice,
  | 'env'
  | 'issuerRnc'
  | 'id'
  | 'listed'
  | 'ecfType'
  | 'status'
  | 'buyerRnc'
  | 'buyerName'
  | 'createdAt'
  | 'totalAmount'
  | 'totalItbis'
>;

/** A change of an issuer's sums by day or month, type and status. Amounts are decimals with two decimals. */
export interface InvoiceDelta {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly grain: Grain;
  readonly bucket: CalendarDate;
  readonly ecf_type: string;
  readonly status: string;
  readonly count: number;
  readonly amount: string;
  readonly itbis: string;
}

/** A change of an issuer's sums by buyer and day or larger. The name is the latest document's; of days alone. */
export interface BuyerDelta {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly grain: Grain;
  readonly bucket: CalendarDate;
  readonly buyer_rnc: string;
  readonly count: number;
  readonly amount: string;
  readonly name: string | null;
  readonly name_at: Date | null;
  readonly name_id: number | null;
}

/** Buyers of a day whose name may have stood in a document that no longer counts for them. */
export interface RenamedBuyer {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly bucket: CalendarDate;
  readonly buyer_rnc: string;
}

/** Credit notes (34) take back what invoices charged. */
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

interface BuyerSums extends Sums {
  named: Counted | null;
}

/** Collects what changes of documents do to the sums, so that each row is written once for all of them. */
export class RollupChanges {
  readonly #invoices = new Map<string, Sums>();
  readonly #buyers = new Map<string, BuyerSums>();
  readonly #renamed = new Set<string>();

  /** A document became another; `before` is null for one that is new. */
  replace(before: Counted | null, after: Counted): void {
    if (before?.listed === true) this.#count(before, -1);
    if (after.listed) this.#count(after, 1);
    if (before !== null && countsForBuyer(before) && !countsForBuyer(after, before))
      this.#renamed.add(buyerRow(before, 'day'));
  }

  /** Rows that change. */
  invoices(): InvoiceDelta[] {
    return [...this.#invoices]
      .filter(([, sums]) => sums.count !== 0 || sums.amount !== 0n || sums.itbis !== 0n)
      .map(([row, sums]) => {
        const [env, issuer_rnc, grain, bucket, ecf_type, status] = JSON.parse(row);
        const amounts = { amount: fromCents(sums.amount), itbis: fromCents(sums.itbis) };
        return { env, issuer_rnc, grain, bucket, ecf_type, status, count: sums.count, ...amounts };
      });
  }

  buyers(): BuyerDelta[] {
    return [...this.#buyers]
      .filter(([, sums]) => sums.count !== 0 || sums.amount !== 0n || sums.named !== null)
      .map(([row, { count, amount, named }]) => {
        const [env, issuer_rnc, grain, bucket, buyer_rnc] = JSON.parse(row);
        const name = {
          name: named?.buyerName ?? null,
          name_at: named?.createdAt ?? null,
          name_id: named?.id ?? null,
        };
        return { env, issuer_rnc, grain, bucket, buyer_rnc, count, amount: fromCents(amount), ...name };
      });
  }

  renamed(): RenamedBuyer[] {
    return [...this.#renamed].map((row) => {
      const [env, issuer_rnc, , bucket, buyer_rnc] = JSON.parse(row);
      return { env, issuer_rnc, bucket, buyer_rnc };
    });
  }

  #count(document: Counted, times: 1 | -1): void {
    const factor = sign(document.ecfType) * BigInt(times);
    const amount = toCents(document.totalAmount) * factor;
    const itbis = toCents(document.totalItbis) * factor;
    for (const grain of ['day', 'month'] as const) {
      const sums = sumsOf(this.#invoices, invoiceRow(document, grain), () => ({ count: 0, amount: 0n, itbis: 0n }));
      add(sums, times, amount, itbis);
    }
    if (!isAccepted(document.status)) return;
    for (const grain of GRAINS) {
      const fresh = () => ({ count: 0, amount: 0n, itbis: 0n, named: null as Counted | null });
      const sums = sumsOf(this.#buyers, buyerRow(document, grain), fresh);
      add(sums, times, amount, itbis);
      if (grain === 'day' && times === 1 && document.buyerRnc !== null && isLater(document, sums.named))
        sums.named = document;
    }
  }
}

function add(sums: Sums, times: number, amount: bigint, itbis: bigint): void {
  sums.count += times;
  sums.amount += amount;
  sums.itbis += itbis;
}

function sumsOf<S>(rows: Map<string, S>, row: string, fresh: () => S): S {
  const present = rows.get(row) ?? fresh();
  rows.set(row, present);
  return present;
}

function invoiceRow(document: Counted, grain: Grain): string {
  const bucket = bucketOf(dayOf(document), grain);
  return JSON.stringify([document.env, document.issuerRnc, grain, bucket, document.ecfType, document.status]);
}

function buyerRow(document: Counted, grain: Grain): string {
  const bucket = bucketOf(dayOf(document), grain);
  return JSON.stringify([document.env, document.issuerRnc, grain, bucket, document.buyerRnc ?? '']);
}

/** Whether a document counts among accepted ones of a buyer; with `as`, of the same buyer and day as that one. */
function countsForBuyer(document: Counted, as: Counted = document): boolean {
  const counts = document.listed && isAccepted(document.status) && document.buyerRnc !== null;
  return counts && buyerRow(document, 'day') === buyerRow(as, 'day');
}

function isLater(document: Counted, than: Counted | null): boolean {
  if (than === null) return true;
  const distance = document.createdAt.getTime() - than.createdAt.getTime();
  return distance > 0 || (distance === 0 && document.id >= than.id);
}
