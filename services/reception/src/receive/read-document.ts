import {
  Decimal,
  type DocumentNode,
  type EcfType,
  formatSortableDateTime,
  groupOf,
  isQuotableEncf,
  isRnc,
  parseDocumentDate,
  parseSignatureDateTime,
  textOf,
} from '@ecf/domain';
import type { CanonicalXml, CheckedDocument } from '@ecf/ecf-xml';
import { ReceptionError } from '../errors.js';

/** The three identifiers that an acknowledgement quotes; together with the environment, a document's key. */
export interface QuotedParties {
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly encf: string;
}

/**
 * Reads issuer, buyer and number, whatever else is wrong with the document. They come from its tree, or, if its structure is
 * wrong there, from elements that occur exactly once.
 *
 * Throws ReceptionError `unreadable_document` if one of them is missing or could not stand in an acknowledgement.
 */
export function quotedParties(checked: CheckedDocument, xml: Pick<CanonicalXml, 'text' | 'rootName'>): QuotedParties {
  const header = checked.document === null ? null : groupOf(groupOf(checked.tree, checked.document), 'Encabezado');
  const read = (group: string, name: string) =>
    (textOf(groupOf(header, group), name) ?? onlyText(xml.text, name) ?? '').trim();
  const parties = {
    issuerRnc: read('Emisor', 'RNCEmisor'),
    buyerRnc: read('Comprador', 'RNCComprador'),
    encf: read('IdDoc', 'eNCF'),
  };
  if (Object.values(parties).every((text) => text === '')) {
    const root = `The root is ${xml.rootName.slice(0, 60)}`;
    const rule = 'an e-CF names its issuer, buyer and number in ECF.Encabezado, in elements without prefix';
    throw unreadable(`${root}, which cannot be acknowledged: ${rule}.`, 'document.not_an_ecf');
  }
  requireRnc(parties.issuerRnc, 'ECF.Encabezado.Emisor.RNCEmisor');
  requireRnc(parties.buyerRnc, 'ECF.Encabezado.Comprador.RNCComprador');
  requireEncf(parties.encf);
  return parties;
}

/** The text of an element of canonical XML that stands in it once and holds text alone. */
function onlyText(canonical: string, name: string): string | null {
  const start = canonical.indexOf(`<${name}>`);
  if (start < 0 || canonical.indexOf(`<${name}>`, start + 1) >= 0) return null;
  const from = start + name.length + 2;
  const end = canonical.indexOf('<', from);
  return canonical.startsWith(`</${name}>`, end) ? canonical.slice(from, end) : null;
}

function requireRnc(text: string, path: string): void {
  if (isRnc(text)) return;
  throw text === ''
    ? unreadable(`${path} is missing, so no acknowledgement is possible.`, 'document.party_missing')
    : unreadable(`${path} is not an RNC of 9 or 11 digits.`, 'document.party_malformed');
}

function requireEncf(text: string): void {
  if (isQuotableEncf(text)) return;
  throw text === ''
    ? unreadable('ECF.Encabezado.IdDoc.eNCF is missing.', 'document.encf_missing')
    : unreadable(
        'ECF.Encabezado.IdDoc.eNCF is not E and 12 digits, nor anything that an acknowledgement could quote.',
        'document.encf_malformed',
      );
}

function unreadable(message: string, kind: string): ReceptionError {
  return new ReceptionError('unreadable_document', message, kind);
}

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
