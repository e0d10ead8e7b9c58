import {
  Decimal,
  type DocumentNode,
  type EcfType,
  formatSortableDateTime,
  groupOf,
  parseDocumentDate,
  parseSignatureDateTime,
  textOf,
} from '@ecf/domain';

/** The facts in the record of a received e-CF. Amounts in DOP with two decimals; impossible dates are null. */
export interface DocumentFacts {
  readonly ecfType: EcfType;
  readonly issuerName: string;
  readonly buyerName: string | null;
  /** `YYYY-MM-DD` */
  readonly dateIssued: string | null;
  readonly totalAmount: string;
  readonly totalItbis: string;
  readonly modifiedEncf: string | null;
  /** `YYYY-MM-DD HH:MM:SS` */
  readonly signatureDatetime: string | null;
}

/**
 * Reads the facts of an e-CF whose structure is valid. It never refuses: the schemas accept impossible days, and a business
 * fault does not prevent receipt.
 */
export function documentFacts(tree: DocumentNode, ecfType: EcfType): DocumentFacts {
  const root = groupOf(tree, 'ECF');
  const header = groupOf(root, 'Encabezado');
  const issuer = groupOf(header, 'Emisor');
  const totals = groupOf(header, 'Totales');
  const signed = parseSignatureDateTime(textOf(root, 'FechaHoraFirma') ?? '');
  return {
    ecfType,
    issuerName: textOf(issuer, 'RazonSocialEmisor')?.trim() ?? '',
    buyerName: textOf(groupOf(header, 'Comprador'), 'RazonSocialComprador'),
    dateIssued: parseDocumentDate(textOf(issuer, 'FechaEmision') ?? ''),
    totalAmount: amount(textOf(totals, 'MontoTotal')),
    totalItbis: amount(textOf(totals, 'TotalITBIS')),
    modifiedEncf: textOf(groupOf(root, 'InformacionReferencia'), 'NCFModificado'),
    signatureDatetime: signed === null ? null : formatSortableDateTime(signed),
  };
}

function amount(text: string | null): string {
  return (Decimal.parse(text?.trim() ?? '') ?? Decimal.ZERO).toFixed(2);
}
