import type { CalendarDate } from '@ecf/domain';
import { dayOf, type IssuedInvoice } from '../invoices/issued-invoice.js';
import { fromCents, toCents } from './cents.js';
import { bucketOf, type Grain, RUNNING_GRAINS, RUNNING_STEPS, type RunningGrain, stepOf } from './periods.js';

/** The values of a document that the sums contain. */
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

/** A change of an issuer's sums by buyer and month or year: from the bucket's beginning to the end of each of its steps. */
export interface BuyerDelta {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly grain: RunningGrain;
  readonly bucket: CalendarDate;
  /** Empty for documents without an RNC of the buyer. */
  readonly buyer_rnc: string;
  readonly counts: readonly number[];
  readonly amounts: readonly string[];
}

/** A buyer's name in a document of that day, with the document. */
export interface BuyerName extends NamedDay {
  readonly name: string | null;
  readonly name_at: Date;
  readonly name_id: number;
}

/** A buyer and a day with a document that names it. */
export interface NamedDay {
  readonly env: string;
  readonly issuer_rnc: string;
  readonly buyer_rnc: string;
  readonly day: CalendarDate;
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

/** The gain of each step of a bucket. */
interface BuyerSteps {
  readonly counts: number[];
  readonly amounts: bigint[];
}

/** Collects the changes of the sums by several documents, so that each row is written once. */
export class RollupChanges {
  readonly #invoices = new Map<string, Sums>();
  readonly #buyers = new Map<string, BuyerSteps>();
  readonly #named = new Map<string, Counted>();
  readonly #renamed = new Set<string>();

  /** Replaces a document; `before` is null for a new one. */
  replace(before: Counted | null, after: Counted): void {
    if (before?.listed === true) this.#count(before, -1);
    if (after.listed) this.#count(after, 1);
    if (before !== null && countsForBuyer(before) && !countsForBuyer(after, before))
      this.#renamed.add(namedDay(before));
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
      .filter(([, { counts, amounts }]) => counts.some((count) => count !== 0) || amounts.some((sum) => sum !== 0n))
      .map(([row, { counts, amounts }]) => {
        const [env, issuer_rnc, grain, bucket, buyer_rnc] = JSON.parse(row);
        const sums = { counts: running(counts), amounts: runningAmounts(amounts) };
        return { env, issuer_rnc, grain, bucket, buyer_rnc, ...sums };
      });
  }

  /** Names that may be later than the stored ones. */
  names(): BuyerName[] {
    return [...this.#named].map(([row, { buyerName, createdAt, id }]) => ({
      ...(JSON.parse(row) as NamedDay),
      name: buyerName,
      name_at: createdAt,
      name_id: id,
    }));
  }

  /** Days whose name may come from a document that no longer counts for the buyer. */
  renamed(): NamedDay[] {
    return [...this.#renamed].map((row) => JSON.parse(row));
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
    for (const grain of RUNNING_GRAINS) {
      const steps = sumsOf(this.#buyers, buyerRow(document, grain), () => noSteps(grain));
      const step = stepOf(dayOf(document), grain) - 1;
      steps.counts[step] = (steps.counts[step] ?? 0) + times;
      steps.amounts[step] = (steps.amounts[step] ?? 0n) + amount;
    }
    if (times === 1 && document.buyerRnc !== null) this.#name(document);
  }

  #name(document: Counted): void {
    const day = namedDay(document);
    if (isLater(document, this.#named.get(day) ?? null)) this.#named.set(day, document);
  }
}

function add(sums: Sums, times: number, amount: bigint, itbis: bigint): void {
  sums.count += times;
  sums.amount += amount;
  sums.itbis += itbis;
}

function noSteps(grain: RunningGrain): BuyerSteps {
  const steps = RUNNING_STEPS[grain];
  return { counts: Array(steps).fill(0), amounts: Array(steps).fill(0n) };
}

/** Running sums: for each step, the sum of all steps up to it. */
function running(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
}

/** Running sums of cents, as decimals. Steps without gain share one text. */
function runningAmounts(steps: readonly bigint[]): string[] {
  let sum = 0n;
  let written = fromCents(sum);
  return steps.map((step) => {
    if (step === 0n) return written;
    sum += step;
    written = fromCents(sum);
    return written;
  });
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

function buyerRow(document: Counted, grain: RunningGrain): string {
  const bucket = bucketOf(dayOf(document), grain);
  return JSON.stringify([document.env, document.issuerRnc, grain, bucket, document.buyerRnc ?? '']);
}

function namedDay(document: Counted): string {
  const [env, issuer_rnc] = [document.env, document.issuerRnc];
  const day: NamedDay = { env, issuer_rnc, buyer_rnc: document.buyerRnc ?? '', day: dayOf(document) };
  return JSON.stringify(day);
}

/** Whether a document counts as accepted for a buyer; with `as`, for the buyer and day of that document. */
function countsForBuyer(document: Counted, as: Counted = document): boolean {
  const counts = document.listed && isAccepted(document.status) && document.buyerRnc !== null;
  return counts && namedDay(document) === namedDay(as);
}

function isLater(document: Counted, than: Counted | null): boolean {
  if (than === null) return true;
  const distance = document.createdAt.getTime() - than.createdAt.getTime();
  return distance > 0 || (distance === 0 && document.id >= than.id);
}
