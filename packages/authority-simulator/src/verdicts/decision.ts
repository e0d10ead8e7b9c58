import {
  checkBusinessRules,
  type DocumentNode,
  type Environment,
  type Fault,
  groupOf,
  isEncf,
  isRnc,
  textOf,
} from '@ecf/domain';
import type { DocumentName } from '@ecf/ecf-xml';
import type { Reference } from '../ledger/submission.js';
import { schemaMessage } from './schema-messages.js';
import { readSigned, type SignatureReading, type SignedDocument, signerOf } from './signed-document.js';
import { ruleMessage, TEXTS } from './texts.js';
import { ACCEPTED, conditional, type Message, rejected, type Verdict } from './verdict.js';

/** A document as received. */
export interface Arrival {
  readonly env: Environment;
  readonly filename: string;
  readonly bytes: Uint8Array;
  readonly now: Date;
}

/** The decision about a document, with its readable parts. */
export interface Decision {
  readonly verdict: Verdict;
  readonly rnc: string | null;
  readonly encf: string | null;
  readonly reference: Reference | null;
}

/** A document that passed file name, structure and signature. */
interface SoundDocument {
  readonly document: SignedDocument;
  readonly rnc: string;
  readonly encf: string;
  readonly signer: string;
}

/**
 * The checks that come first for an e-CF and a summary, in the authority's order: file name, structure, signature.
 *
 * @param root the root element that the service accepts
 */
export function checkForm(
  arrival: Arrival,
  root: DocumentName,
  signatures: SignatureReading,
): SoundDocument | Decision {
  const document = readSigned(arrival.bytes, arrival.now);
  const { rnc, encf } = identity(document?.tree ?? {});
  const refused = (message: Message, sequenceUsed = false): Decision => ({
    verdict: rejected([message], sequenceUsed),
    rnc,
    encf,
    reference: null,
  });
  if (!isFileName(arrival.filename)) return refused(TEXTS.fileName, true);
  if (!document || document.refusedBeyondSchema || document.checked.document !== root) return refused(TEXTS.format);
  if (document.checked.faults.length > 0) return refused(schemaMessage(document.checked.faults, document.tree));
  if (rnc === null || encf === null) return refused(TEXTS.format);
  if (!isNamedAfter(arrival.filename, [rnc], encf)) return refused(TEXTS.fileName, true);
  const signer = signerOf(document, signatures);
  return signer ? { document, rnc, encf, signer: signer.holder } : refused(TEXTS.signature);
}

/** Issuer and number of an e-CF or summary; null if the document has no possible one. */
function identity(tree: DocumentNode): { rnc: string | null; encf: string | null } {
  const header = groupOf(groupOf(tree, 'ECF') ?? groupOf(tree, 'RFCE'), 'Encabezado');
  const rnc = textOf(groupOf(header, 'Emisor'), 'RNCEmisor');
  const encf = textOf(groupOf(header, 'IdDoc'), 'eNCF');
  return { rnc: rnc !== null && isRnc(rnc) ? rnc : null, encf: encf !== null && isEncf(encf) ? encf : null };
}

/**
 * The verdicts of the authority on the content of a document, by business rule. Only observed ones: codes of rejections,
 * codes of conditional acceptance, and for lines the tolerance of Informe Técnico e-CF p.21. Violations in neither list are
 * accepted. Rules on references are checked with the referenced document.
 */
export const REJECTED: ReadonlySet<string> = new Set([
  'business.encf-type',
  'business.encf-sequence',
  'business.payment-due-date-required',
  'business.payment-due-date-early',
  'business.taxed-indicator-required',
  'business.large-consumer-buyer-id',
  'business.special-regime-buyer-id',
  'business.exempt-total-required',
  'business.itbis-withheld-required',
  'business.itbis-withheld-total-required',
  'business.isr-withheld-total-required',
  'business.taxed-breakdown-required',
  'business.additional-tax-detail',
  'business.exempt-lines-only',
  'business.services-only',
  'business.subquantity-required',
  'business.line-discount-table',
  'business.line-surcharge-table',
  'business.modification-code',
]);
export const OBSERVED: ReadonlySet<string> = new Set([
  'business.line-amount',
  'business.base-18',
  'business.itbis-18',
  'business.itbis-16',
  'business.total-amount',
  'business.summary-total-amount',
  'business.period-amount',
]);

/** The findings of the rules on the document's own fields. */
export function checkFields(tree: DocumentNode, now: Date): { faults: Message[]; observations: Message[] } {
  const { faults, warnings } = checkBusinessRules(tree, { now });
  const found = [...faults, ...warnings];
  return { faults: messagesOf(found, REJECTED), observations: messagesOf(found, OBSERVED) };
}

function messagesOf(found: readonly Fault[], rules: ReadonlySet<string>): Message[] {
  return found.filter(({ rule }) => rules.has(rule)).map(ruleMessage);
}

/**
 * The verdict on all findings. Faults reject. Code 64 alone leaves the number free; every other fault burns it. Source:
 * technical description pp.16, 19-20 and field reports.
 */
export function verdictOf(faults: readonly Message[], observations: readonly Message[]): Verdict {
  const messages = distinct(faults);
  if (messages.length > 0)
    return rejected(
      messages,
      messages.some(({ code }) => code !== '64'),
    );
  return observations.length > 0 ? conditional(distinct(observations)) : ACCEPTED;
}

function distinct(messages: readonly Message[]): Message[] {
  const seen = new Set<string>();
  return messages.filter(({ code, text }) => {
    const key = `${code}|${text}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** `131880738E310000000001.xml`: an RNC (9) or cédula (11) and an eNCF (13). Source: technical description p.59. */
export function isFileName(filename: string): boolean {
  return /^([0-9]{9}|[0-9]{11})[A-Za-z][0-9]{12}\.xml$/i.test(filename);
}

/** Whether a file is named after one of the RNC and the eNCF. */
export function isNamedAfter(filename: string, rncs: readonly (string | null)[], encf: string | null): boolean {
  const stem = filename.slice(0, -'.xml'.length).toUpperCase();
  return rncs.some((rnc) => stem === `${rnc}${encf}`);
}
