import { APPROVAL_RULES, RECEIPT_RULES } from './companions/approval-rules.js';
import { CANCELLATION_RULES } from './companions/cancellation-rules.js';
import { SUMMARY_RULES } from './companions/summary-rules.js';
import { DATE_RULES } from './date-rules.js';
import { ADDITIONAL_TAX_RULES } from './ecf/additional-tax-rules.js';
import { BUYER_RULES } from './ecf/buyer-rules.js';
import { CURRENCY_RULES } from './ecf/currency-rules.js';
import { DETAIL_TOTALS_RULES } from './ecf/detail-totals-rules.js';
import { ADJUSTMENT_RULES, LINE_DISCOUNT_RULES } from './ecf/discount-rules.js';
import type { EcfView } from './ecf/ecf-view.js';
import { LINE_NUMBER_RULES, LINE_RULES, type LineRule } from './ecf/line-rules.js';
import { PAYMENT_RULES } from './ecf/payment-rules.js';
import { REFERENCE_RULES } from './ecf/reference-rules.js';
import { IDENTITY_RULES } from './identity-rules.js';
import type { BusinessRule, DocumentKind, DocumentRule } from './rule.js';
import { TOTALS_RULES } from './totals-rules.js';

/** Rules over a whole e-CF, in the order in which their faults are reported. */
export const ECF_RULES: readonly DocumentRule<EcfView>[] = [
  ...PAYMENT_RULES,
  ...BUYER_RULES,
  ...LINE_NUMBER_RULES,
  ...DETAIL_TOTALS_RULES,
  ...ADDITIONAL_TAX_RULES,
  ...ADJUSTMENT_RULES,
  ...CURRENCY_RULES,
  ...REFERENCE_RULES,
  ...TOTALS_RULES,
];

/** Rules over one line of an e-CF. */
export const ECF_LINE_RULES: readonly LineRule[] = [...LINE_RULES, ...LINE_DISCOUNT_RULES];

/** Every rule beyond the schemas, as data. */
export const BUSINESS_RULES: readonly BusinessRule[] = [
  ...IDENTITY_RULES,
  ...DATE_RULES,
  ...ECF_RULES,
  ...ECF_LINE_RULES,
  ...SUMMARY_RULES,
  ...APPROVAL_RULES,
  ...RECEIPT_RULES,
  ...CANCELLATION_RULES,
].map(({ name, code, appliesTo, verdict, evidence, source, since, summary }) => ({
  name,
  code,
  appliesTo,
  verdict,
  ...(evidence === undefined ? {} : { evidence }),
  source,
  since,
  summary,
}));

/** The rules of a list that apply to a kind of document. */
export function rulesFor<Rule extends BusinessRule>(rules: readonly Rule[], kind: DocumentKind): readonly Rule[] {
  return rules.filter((rule) => rule.appliesTo.includes(kind));
}
