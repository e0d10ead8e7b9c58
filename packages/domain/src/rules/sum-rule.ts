import { Decimal } from '../amounts/decimal.js';
import type { DocumentNode } from '../document/document-tree.js';
import type { BusinessRule, DocumentRule } from './rule.js';

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

/** An amount of Totales that follows from others, as a row of data. */
interface SumRow<View extends TotalsView> extends Omit<BusinessRule, 'verdict'> {
  field: string;
  /** The parts of the expected amount, as text for the message. */
  made: string;
  /** An absent field counts as zero, or is not checked because it is optional. */
  absent: 'zero' | 'skip';
  /** Expected amounts of which one must be met, the first being the official one; empty when they cannot be known. */
  expected(view: View): readonly Decimal[];
}

/**
 * The rule of a row: within the tolerance there is no message, beyond it the rule warns.
 * Source: Informe Técnico e-CF p.21.
 */
export function sumRule<View extends TotalsView>(row: SumRow<View>): DocumentRule<View> {
  return {
    name: row.name,
    code: row.code,
    appliesTo: row.appliesTo,
    verdict: 'warns',
    source: row.source,
    since: row.since,
    summary: row.summary,
    check(view, report) {
      const declared = view.total(row.field);
      if (declared === null && row.absent === 'skip') return;
      const expected = row.expected(view);
      if (expected.length === 0 || isMet(declared ?? Decimal.ZERO, expected, view.tolerance)) return;
      report(
        `${view.totalsPath}.${row.field}`,
        `${row.field} is ${declared === null ? 'missing' : declared.toFixed(2)}; expected ${expected[0]!.toFixed(2)}: ${row.made} (tolerance ${view.tolerance.toFixed(2)})`,
      );
    },
  };
}

function isMet(declared: Decimal, expected: readonly Decimal[], tolerance: Decimal): boolean {
  for (const amount of expected) if (isWithin(declared, amount, tolerance)) return true;
  return false;
}

/** Whether the declared amount is within the tolerance of the expected one, which is rounded as amounts are. */
export function isWithin(declared: Decimal, expected: Decimal, tolerance: Decimal): boolean {
  const rounded = expected.round(2);
  return declared.equals(rounded) || declared.minus(rounded).abs().compare(tolerance) <= 0;
}
