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
import { isFileName, isNamedAfter } from './file-name.js';
import { schemaMessage } from './schema-messages.js';
import { readSigned, type SignedDocument, signerOf } from './signed-document.js';
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
export interface SoundDocument {
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
export function checkForm(arrival: Arrival, root: DocumentName): SoundDocument | Decision {
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
  const signer = signerOf(document);
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
 * Rules that the authority does not have (advice to issuers), and rules on references, which are checked here with the
 * referenced document.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'business.issuer-check-digit',
  'business.buyer-check-digit',
  'business.date-two-digits',
  'business.province-code',
  'business.debit-note-annuls',
  'business.note-on-note',
  'business.electronic-replacement',
  'business.other-taxpayer',
  'business.credit-note-indicator',
  'business.reference-date-order',
]);

/** The findings of the rules on the document's own fields. */
export function checkFields(tree: DocumentNode, now: Date): { faults: Message[]; observations: Message[] } {
  const { faults, warnings } = checkBusinessRules(tree, { now });
  return { faults: messagesOf(faults), observations: messagesOf(warnings) };
}

function messagesOf(faults: readonly Fault[]): Message[] {
  return faults.filter(({ rule }) => !LEFT_OUT.has(rule)).map(ruleMessage);
}

/**
 * The verdict on all findings. Faults reject. Code 64 alone leaves the number free; every other fault burns it. Source: technical description pp.16, 19-20 and field reports.
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
