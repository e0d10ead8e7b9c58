import {
  confirmationAddress,
  type DocumentNode,
  type DocumentSummary,
  deriveRfce,
  type EcfType,
  type Environment,
  type Fault,
  faultOf,
  formatSignatureDateTime,
  groupOf,
  ISSUING_RULES,
  parseDocumentDate,
  parseSignatureDateTime,
  type SubmissionRoute,
  signingTimeWarnings,
  submissionRoute,
  summarise,
  textOf,
} from '@ecf/domain';
import { examineJson, JsonRefused, parseDocument, type WrittenXml, writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, securityCode, signXml } from '@ecf/xml-signing';
import type { Attempt, DocumentKey, SignedFacts } from '../attempt/attempt.js';
import { EmissionError, refuseFaults } from '../errors.js';
import { contentHashOf } from './compare-documents.js';

/** A checked invoice that is not signed yet. */
export interface Invoice {
  readonly key: DocumentKey;
  readonly type: EcfType;
  readonly route: SubmissionRoute;
  /** Normalised, root key included. */
  readonly tree: DocumentNode;
  readonly summary: DocumentSummary;
  readonly warnings: readonly Fault[];
  /** Without FechaHoraFirma if the caller left it out. */
  readonly written: WrittenXml;
  /** As {@link Attempt.contentHash}. Key order, blanks between tokens and empty values do not matter. */
  readonly contentHash: string;
}

/** Checks the parsed part `data`. 400 if it is not an e-CF, or if the authority would reject it. */
export function readInvoice(document: unknown, env: Environment, now: Date): Invoice {
  const examined = examineJson(document, { now });
  if (examined.document !== 'ECF') refuseFaults([wrongRoot(examined.document ?? examined.faults[0]?.path ?? '')]);
  refuseFaults(examined.faults);
  refuseFaults(issueDateFaults(examined.tree));
  const { tree, type, encf } = examined;
  if (tree === null || type === null || encf === null)
    throw new TypeError('a document without faults has root, type and number');
  const summary = summarise(tree);
  const written = writeXml(tree);
  return {
    key: { env, issuerRnc: summary.issuer_rnc, encf },
    type,
    route: submissionRoute(type, summary.total_amount),
    tree,
    summary,
    warnings: examined.warnings,
    written,
    contentHash: contentHashOf(written.canonical),
  };
}

/**
 * A document is stored, listed and confirmed by its FechaEmision, so that must be a day of the calendar. The pattern of the
 * schema lets 31-02-2026 pass.
 */
export function issueDateFaults(tree: DocumentNode | null): Fault[] {
  const root = groupOf(tree, 'ECF') === null ? 'RFCE' : 'ECF';
  const issued = textOf(groupOf(groupOf(groupOf(tree, root), 'Encabezado'), 'Emisor'), 'FechaEmision');
  if (issued === null || parseDocumentDate(issued) !== null) return [];
  const path = `${root}.Encabezado.Emisor.FechaEmision`;
  const message = `${issued} is not a day of the calendar; write the day on which the document was issued, DD-MM-YYYY`;
  return [{ path, rule: 'schema.type', code: null, message, source: 'Formato e-CF v1.0 p.12', severity: 'error' }];
}

/** What the steps after the check read of a tree. Between threads the lines would cost more than their check. */
export function withoutLines(tree: DocumentNode): DocumentNode {
  const ecf = groupOf(tree, 'ECF');
  if (ecf === null) return tree;
  const { Encabezado, InformacionReferencia, FechaHoraFirma } = ecf;
  const kept = Object.entries({ Encabezado, InformacionReferencia, FechaHoraFirma });
  return { ECF: Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as DocumentNode };
}

/** `found` is the root key; empty if no key has content. */
function wrongRoot(found: string): Fault {
  const [path, rule, instead] =
    found === '' ? ['ECF', 'schema.required', 'it is missing'] : [found, 'schema.unknown', `not ${found}`];
  return {
    path,
    rule,
    code: null,
    message: `an e-CF is expected under the root key ECF; ${instead}`,
    source: 'XSD e-CF v1.0',
    severity: 'error',
  };
}

/** Parses the invoice. 400 if it is not JSON in UTF-8. */
export function parseInvoiceJson(data: Uint8Array): unknown {
  try {
    return parseDocument(data);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    if (error.code === 'not_utf8') throw new EmissionError('not_utf8', error.message, { cause: error });
    throw new EmissionError('invalid_json', error.message, { cause: error });
  }
}

/** A signed invoice and, for the summary route, its signed summary. No byte of either may change. */
export interface SignedInvoice {
  readonly xml: string;
  readonly rfceXml: string | null;
  readonly facts: SignedFacts;
  readonly signedAt: Date;
}

/**
 * Fills FechaHoraFirma if it is missing and signs. For the summary route it also derives and signs the summary.
 *
 * @param previous when the attempt before it was signed. The authority refuses a summary with a security code that it has seen,
 * so a summary of the same second is signed with the next one.
 */
export async function signInvoice(
  invoice: Invoice,
  certificate: SigningCertificate,
  now: Date,
  previous: Date | null = null,
): Promise<SignedInvoice> {
  const { written, signatureTime, warnings } = completed(invoice, now, invoice.route === 'rfce' ? previous : null);
  const signed = await signXml(written, certificate);
  const code = securityCode(signed.signatureValue);
  const tree = { ECF: { ...(invoice.tree.ECF as DocumentNode), FechaHoraFirma: signatureTime } };
  const rfceXml = invoice.route === 'rfce' ? (await signXml(writeXml(deriveRfce(tree, code)), certificate)).xml : null;
  return {
    xml: signed.xml,
    rfceXml,
    facts: factsOf(invoice.key.env, tree, summarise(tree), code, [
      ...invoice.warnings,
      ...warnings,
      ...signingTimeWarnings(signatureTime, certificate.notBefore, certificate.notAfter),
    ]),
    signedAt: parseSignatureDateTime(signatureTime) ?? now,
  };
}

/** The unsigned document as it would be signed now, for a dry run. */
export function unsignedXml(invoice: Invoice, now: Date): string {
  return completed(invoice, now, null).written.output;
}

/** Milliseconds after the signing time of an attempt in which the next one may get the same. */
const SAME_TIME_MS = 60_000;

/**
 * FechaHoraFirma is the last element before the Signature in every type, so it is inserted without writing the
 * document again.
 */
function completed(
  invoice: Invoice,
  now: Date,
  previous: Date | null,
): { written: WrittenXml; signatureTime: string; warnings: readonly Fault[] } {
  const stated = textOf(groupOf(invoice.tree, 'ECF'), 'FechaHoraFirma');
  const wanted = (stated === null ? null : parseSignatureDateTime(stated)) ?? now;
  const lead = previous === null ? -1 : Math.floor(previous.getTime() / 1_000) - Math.floor(wanted.getTime() / 1_000);
  const isMoved = previous !== null && lead >= 0 && lead * 1_000 < SAME_TIME_MS;
  const time = isMoved ? new Date(previous.getTime() + 1_000) : wanted;
  if (stated !== null && !isMoved) return { written: invoice.written, signatureTime: stated, warnings: [] };
  const signatureTime = formatSignatureDateTime(time);
  const ending = `<FechaHoraFirma>${signatureTime}</FechaHoraFirma></ECF>`;
  const replaced = stated === null ? '</ECF>' : '<FechaHoraFirma>';
  const fill = (text: string) => text.slice(0, text.lastIndexOf(replaced)) + ending;
  const { canonical, output } = invoice.written;
  const filled = fill(canonical);
  return {
    written: { canonical: filled, output: output === canonical ? filled : fill(output) },
    signatureTime,
    warnings: stated === null ? [] : [signedLater(stated, signatureTime)],
  };
}

function signedLater(stated: string, signatureTime: string): Fault {
  const message = `an attempt signed at FechaHoraFirma ${stated} was rejected, and the authority refuses its security code from now on; the document is signed at ${signatureTime} instead`;
  return faultOf(ISSUING_RULES.signedLater, 'ECF.FechaHoraFirma', message);
}

/** Facts of a signed document that never change. */
export function factsOf(
  env: Environment,
  tree: DocumentNode,
  summary: DocumentSummary,
  code: string,
  warnings: readonly Fault[],
): SignedFacts {
  return {
    summary,
    securityCode: code,
    qrUrl: confirmationAddress({ env, tree, securityCode: code }),
    signatureDateTime: summary.signature_datetime,
    warnings,
  };
}
