import type { Decimal } from '../decimal.js';
import type { DocumentNode } from '../document-tree.js';

/** Totals of an e-CF or of a consumer summary, which share most of their arithmetic. */
export interface TotalsView {
  /** Path of the group Totales. */
  readonly totalsPath: string;
  /** The group's ImpuestoAdicional entries. */
  readonly taxes: readonly DocumentNode[];
  /** Largest difference that is still in order. */
  readonly tolerance: Decimal;
  /** An amount of Totales; null when absent or unreadable. */
  total(name: string): Decimal | null;
  /** An amount of Totales, absent counting as zero. */
  totalOrZero(name: string): Decimal;
}
