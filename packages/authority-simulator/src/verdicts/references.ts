import {
  Decimal,
  type DocumentNode,
  daysBetween,
  type Environment,
  groupOf,
  isEncf,
  parseDocumentDate,
  textOf,
} from '@ecf/domain';
import type { DocumentFacts, DocumentReader } from '../ledger/document-facts.js';
import type { Numbers } from '../ledger/numbers.js';
import { isDecided, type Reference } from '../ledger/submission.js';
import { fieldText } from './texts.js';
import { isAccepted, type Message } from './verdict.js';

/** A note's deadline for giving tax back. Source: Formato e-CF p.7. */
const TAX_DAYS = 30;

interface ReferringDocument {
  readonly env: Environment;
  readonly type: string;
  readonly rnc: string;
  readonly tree: DocumentNode;
  readonly facts: DocumentFacts;
  readonly now: Date;
}

interface ReferenceFinding {
  readonly messages: readonly Message[];
  /** The electronic document that a note modifies. */
  readonly reference: Reference | null;
}

const NOTHING: ReferenceFinding = { messages: [], reference: null };

/**
 * Checks a reference (InformacionReferencia of any type) against earlier documents. Notes (33, 34) have rules on buyer,
 * date, balance and the 30 days. Paper documents (A, B) are unknown here. Sources: Formato e-CF pp.7, 25, 56-57; codes and
 * texts from field reports.
 */
export function checkReferences(
  numbers: Numbers,
  facts: DocumentReader,
  document: ReferringDocument,
): ReferenceFinding {
  const root = groupOf(document.tree, 'ECF');
  const section = groupOf(root, 'InformacionReferencia');
  const modified = textOf(section, 'NCFModificado');
  if (!section || modified === null) return NOTHING;
  const code = textOf(section, 'CodigoModificacion');
  const isNote = document.type === '33' || document.type === '34';
  if (document.type === '33' && code === '1') return { messages: [{ code: '64', text: '' }], reference: null };
  if (!isEncf(modified)) {
    const stated = textOf(section, 'FechaNCFModificado');
    return { messages: code === '4' ? [] : checkThirtyDays(document, stated), reference: null };
  }
  const modifiedType = modified.slice(1, 3);
  if (code === '4' || (isNote && (modifiedType === '33' || modifiedType === '34'))) {
    const text = 'Los comprobantes electrónicos no pueden reemplazarse entre ellos mismos.';
    return { messages: [{ code: '613', text }], reference: null };
  }
  const owner = textOf(section, 'RNCOtroContribuyente') ?? document.rnc;
  const holder = numbers.holder(document.env, owner, modified);
  if (!holder || !isAccepted(holder.verdict) || !isDecided(holder, document.now.getTime())) {
    return { messages: [notIssued(modified)], reference: null };
  }
  if (!isNote) return NOTHING;
  const original = facts.of(holder);
  const reference = { rnc: owner, encf: modified, total: document.facts.total };
  const messages = [
    ...checkBuyer(document, original),
    ...checkDate(section, original),
    ...checkThirtyDays(document, original.issueDate),
    ...checkBalance(numbers, document, reference, original),
  ];
  return { messages, reference };
}

function notIssued(encf: string): Message {
  const text = `El eNCF modificado no ha sido emitido. El eNCF ${encf} especificado en NCFModificado de la sección InformacionReferencia no es válido.`;
  return { code: '614', text };
}

function checkBuyer({ type, facts }: ReferringDocument, original: DocumentFacts): Message[] {
  const before = original.buyer ?? original.foreignBuyer;
  if (before === null || before === (facts.buyer ?? facts.foreignBuyer)) return [];
  const kind = type === '33' ? 'débito' : 'crédito';
  const text = `El campo NCFModificado de la sección InformacionReferencia no es válido. El RNC del comprador o Id extranjero de la nota de ${kind} no es válido, ya que no coincide con el RNC del comprador o Id extranjero de la factura que intenta modificar.`;
  return [{ code: '615', text }];
}

function checkDate(section: DocumentNode, original: DocumentFacts): Message[] {
  const stated = textOf(section, 'FechaNCFModificado');
  if (stated === null || parseDocumentDate(stated) === parseDocumentDate(original.issueDate ?? '')) return [];
  const text = 'El valor del campo FechaNCFModificado no coincide con la fecha de emisión de comprobante a modificar';
  return [{ code: '634', text }];
}

/** IndicadorNotaCredito is 1 beyond thirty days, else 0. */
function checkThirtyDays({ type, tree, facts }: ReferringDocument, modifiedOn: string | null): Message[] {
  const from = parseDocumentDate(modifiedOn ?? '');
  const to = parseDocumentDate(facts.issueDate ?? '');
  const header = groupOf(groupOf(tree, 'ECF'), 'Encabezado');
  const indicator = textOf(groupOf(header, 'IdDoc'), 'IndicadorNotaCredito');
  if (type !== '34' || from === null || to === null || indicator === null) return [];
  const expected = daysBetween(from, to) > TAX_DAYS ? '1' : '0';
  if (indicator.trim() === expected) return [];
  return [{ code: '156', text: fieldText('ECF.Encabezado.IdDoc.IndicadorNotaCredito', 'no es válido') }];
}

/** A credit note is at most the document and its debit notes, less earlier credit notes. */
function checkBalance(
  numbers: Numbers,
  { env, type, facts }: ReferringDocument,
  { rnc, encf }: Reference,
  original: DocumentFacts,
): Message[] {
  if (type !== '34') return [];
  let balance = amount(original.total);
  for (const note of numbers.notesOn(env, rnc, encf)) {
    if (!note.reference || !isAccepted(note.verdict)) continue;
    const total = amount(note.reference.total);
    balance = note.encf?.startsWith('E33') ? balance.plus(total) : balance.minus(total);
  }
  if (amount(facts.total).compare(balance) <= 0) return [];
  const text =
    'El campo NCFModificado de la sección InformacionReferencia no es válido. El monto total de la nota de crédito no puede ser mayor al saldo disponible de la sumatoria de las operaciones relacionadas al comprobante referenciado.';
  return [{ code: '615', text }];
}

function amount(text: string): Decimal {
  return Decimal.parse(text) ?? Decimal.ZERO;
}
