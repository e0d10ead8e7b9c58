/**
 * What a document may hold or not, and only some rules are about; each a bit. Documents hold few of these, and a rule that is
 * not asked costs nothing: what it costs to ask one once a document is to bring its code and data near the processor.
 */
export const TOPIC = {
  /** TipoPago 2. */
  credit: 1 << 1,
  paymentForms: 1 << 2,
  period: 1 << 3,
  /** Lines with Retencion, or a total of what is withheld. */
  withholding: 1 << 4,
  /** ImpuestosAdicionales, or lines with a code of one. */
  additionalTaxes: 1 << 5,
  additionalTaxTotal: 1 << 6,
  /** Discounts and surcharges of lines. */
  lineDiscounts: 1 << 7,
  /** Global discounts and surcharges. */
  adjustments: 1 << 8,
  /** Amounts in another currency, in the header or a line. */
  currency: 1 << 9,
  reference: 1 << 10,
  /** Lines or totals at 16 %, at 0 %, exempt, not billable. */
  reducedRate: 1 << 11,
  zeroRate: 1 << 12,
  exempt: 1 << 13,
  nonBillable: 1 << 14,
  periodAmount: 1 << 15,
  payableAmount: 1 << 16,
  pages: 1 << 17,
} as const;

export type Topic = keyof typeof TOPIC;

/** Topics as bits of one number. */
export type Topics = number;

/** The bit that every document has, and the rules that are about all of them. */
export const EVERY_DOCUMENT: Topics = 1;

/** A rule that is asked, wherever it stands in a document. */
export interface AskedRule {
  /** Topics without any of which the rule has nothing to say; left out where it may speak of every document. */
  readonly about?: readonly Topic[] | undefined;
}

/** Rules in their order, of which those are asked that a document's topics call for. */
export class RuleList<Rule extends AskedRule> {
  private readonly topics: readonly Topics[];

  constructor(private readonly rules: readonly Rule[]) {
    this.topics = rules.map(({ about }) => about?.reduce((bits, topic) => bits | TOPIC[topic], 0) ?? EVERY_DOCUMENT);
  }

  /** The rules about any of the topics. */
  about(topics: Topics): readonly Rule[] {
    const asked: Rule[] = [];
    for (let at = 0; at < this.topics.length; at++) {
      if ((this.topics[at]! & topics) !== 0) asked.push(this.rules[at]!);
    }
    return asked;
  }
}
