import { Decimal } from '../amounts/decimal.js';
import { type EcfType, isEcfType } from '../identifiers.js';
import {
  type CalendarDate,
  formatSortableDateTime,
  parseDocumentDate,
  parseSignatureDateTime,
} from '../time/dominican-time.js';
import { type DocumentNode, groupOf, integerOf, textOf } from './document-tree.js';

/** The data of an e-CF or consumer summary in records, lists and events. Amounts in DOP with two decimals. */
export interface DocumentSummary {
  document: 'ECF' | 'RFCE';
  encf: string;
  ecf_type: EcfType;
  issuer_rnc: string;
  issuer_name: string;
  buyer_rnc: string | null;
  buyer_foreign_id: string | null;
  buyer_name: string | null;
  date_issued: CalendarDate;
  total_amount: string;
  total_itbis: string;
  /** The number a note modifies or a contingency document replaces. */
  modified_encf: string | null;
  modification_code: string | null;
  /** FechaHoraFirma as `YYYY-MM-DD HH:MM:SS`; null if the document has none. */
  signature_datetime: string | null;
}

/** Summary of a checked tree with root `ECF` or `RFCE`. Throws RangeError when the tree lacks what every document has. */
export function summarise(tree: DocumentNode): DocumentSummary {
  const ecf = groupOf(tree, 'ECF');
  const root = ecf ?? groupOf(tree, 'RFCE');
  const header = groupOf(root, 'Encabezado');
  const idDoc = groupOf(header, 'IdDoc');
  const issuer = groupOf(header, 'Emisor');
  const buyer = groupOf(header, 'Comprador');
  const totals = groupOf(header, 'Totales');
  const reference = groupOf(root, 'InformacionReferencia');
  return {
    document: ecf ? 'ECF' : 'RFCE',
    encf: needed(idDoc, 'eNCF'),
    ecf_type: ecfType(integerOf(idDoc, 'TipoeCF')),
    issuer_rnc: needed(issuer, 'RNCEmisor'),
    issuer_name: name(issuer, 'RazonSocialEmisor'),
    buyer_rnc: optional(buyer, 'RNCComprador'),
    buyer_foreign_id: optional(buyer, 'IdentificadorExtranjero'),
    buyer_name: optional(buyer, 'RazonSocialComprador'),
    date_issued: issueDate(needed(issuer, 'FechaEmision')),
    total_amount: amount('MontoTotal', needed(totals, 'MontoTotal')),
    total_itbis: amount('TotalITBIS', textOf(totals, 'TotalITBIS') ?? '0'),
    modified_encf: optional(reference, 'NCFModificado'),
    modification_code: integerOf(reference, 'CodigoModificacion'),
    signature_datetime: signatureTime(textOf(root, 'FechaHoraFirma')),
  };
}

function ecfType(text: string | null): EcfType {
  if (!isEcfType(text)) throw new RangeError(`TipoeCF ${text} is not a type of e-CF`);
  return text;
}

function issueDate(text: string): CalendarDate {
  const date = parseDocumentDate(text);
  if (date === null) throw new RangeError(`FechaEmision ${text} is not a calendar day`);
  return date;
}

function amount(name: string, text: string): string {
  const value = Decimal.parse(text);
  if (value === null) throw new RangeError(`${name} ${text} is not an amount`);
  return value.toFixed(2);
}

function signatureTime(text: string | null): string | null {
  const instant = text === null ? null : parseSignatureDateTime(text);
  return instant === null ? null : formatSortableDateTime(instant);
}

function needed(group: DocumentNode | null, name: string): string {
  const value = textOf(group, name)?.trim();
  if (!value) throw new RangeError(`${name} is missing`);
  return value;
}

/** A text of blanks alone is a text: the schema takes it, and it is kept. */
function name(group: DocumentNode | null, field: string): string {
  const value = textOf(group, field);
  if (!value) throw new RangeError(`${field} is missing`);
  return value.trim() || value;
}

function optional(group: DocumentNode | null, name: string): string | null {
  return textOf(group, name)?.trim() || null;
}
