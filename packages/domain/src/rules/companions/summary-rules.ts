import { Decimal } from '../../amounts/decimal.js';
import { type DocumentNode, groupOf, groupsOf, textOf } from '../../document/document-tree.js';
import { decimalOf } from '../ecf/ecf-view.js';
import type { DocumentRule } from '../rule.js';
import type { TotalsView } from '../sum-rule.js';

/** A consumer summary (RFCE) as the rules read it. It has no lines, so its tolerance is that of a single line. */
export class SummaryView implements TotalsView {
  readonly totalsPath = 'RFCE.Encabezado.Totales';
  readonly buyer: DocumentNode | null;
  readonly taxes: readonly DocumentNode[];
  readonly tolerance = Decimal.ONE;
  private readonly totals: DocumentNode | null;

  constructor(root: DocumentNode | null) {
    const header = groupOf(root, 'Encabezado');
    this.buyer = groupOf(header, 'Comprador');
    this.totals = groupOf(header, 'Totales');
    this.taxes = groupsOf(groupOf(this.totals, 'ImpuestosAdicionales'), 'ImpuestoAdicional');
  }

  total(name: string): Decimal | null {
    return decimalOf(this.totals, name);
  }

  totalOrZero(name: string): Decimal {
    return this.total(name) ?? Decimal.ZERO;
  }
}

/** Rules of consumer summaries beside those they share with e-CF. */
export const SUMMARY_RULES: readonly DocumentRule<SummaryView>[] = [
  {
    name: 'business.summary-buyer-one-identifier',
    code: null,
    appliesTo: ['RFCE'],
    verdict: 'warns',
    source: 'Formato RFCE v1.0 pp.4-12',
    since: '2023-06',
    summary: 'RNCComprador and IdentificadorExtranjero of a summary exclude each other.',
    check({ buyer }, report) {
      if (textOf(buyer, 'RNCComprador') !== null && textOf(buyer, 'IdentificadorExtranjero') !== null) {
        report(
          'RFCE.Encabezado.Comprador.IdentificadorExtranjero',
          'a buyer has RNCComprador or IdentificadorExtranjero, not both',
        );
      }
    },
  },
];
