import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  type DocumentSummary,
  type EcfType,
  type Environment,
  type Fault,
  groupOf,
  parseSignatureDateTime,
  signingTimeWarnings,
  summarise,
  textOf,
} from '@ecf/domain';
import {
  type CanonicalXml,
  type DocumentName,
  examineXml,
  parseXml,
  readXml,
  writeXml,
  XmlRefused,
} from '@ecf/ecf-xml';
import { securityCode, signatureWarnings, verifyXml } from '@ecf/xml-signing';
import type { Attempt, DocumentKey, SignedFacts } from '../attempt/attempt.js';
import { EmissionError, refuseFaults } from '../errors.js';
import { contentHashOf } from './compare-documents.js';
import { factsOf, issueDateFaults, withoutLines } from './invoice-json.js';

/** A signed document that was verified and checked. All fields come from signed content. */
export interface SignedDocument {
  readonly key: DocumentKey;
  readonly type: EcfType;
  /** The bytes as they came: these are stored and sent. */
  readonly bytes: Buffer;
  readonly sha256: string;
  /** Without the lines. */
  readonly tree: DocumentNode;
  readonly summary: DocumentSummary;
  readonly facts: SignedFacts;
  readonly signedAt: Date;
  readonly signerFingerprint: string | null;
  /** As {@link Attempt.contentHash}. */
  readonly contentHash: string;
}

/** {@link readSignedXml}, wherever it runs. */
export type ReadSigned = (
  xml: string,
  expected: 'ECF' | 'RFCE',
  env: Environment,
  now: Date,
) => Promise<SignedDocument>;

const BYTE_ORDER_MARK = Buffer.from('\ufeff', 'utf8');

/**
 * Reads a signed e-CF or summary. 400 `invalid_xml` if it is unreadable or its signature is invalid. 400 `invalid_document`
 * if the authority would reject it.
 */
export function readSignedXml(
  xml: Uint8Array,
  expected: 'ECF' | 'RFCE',
  env: Environment,
  now: Date,
  maxBytes: number,
): SignedDocument {
  const bytes = Buffer.from(xml);
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
    throw new EmissionError(
      'invalid_xml',
      'The document begins with a byte order mark, which the authority rejects. Send the document without the mark; the signature stays valid.',
    );
  }
  const parsed = parse(bytes, maxBytes);
  if (parsed.rootName !== expected) {
    refuseFaults([wrongRoot(parsed.rootName, expected)]);
  }
  const verification = verifyXml(parsed, now);
  if (verification.signature !== 'valid' || verification.verified === null || verification.signatureValue === null) {
    throw new EmissionError(
      'invalid_xml',
      `The signature is not valid: ${verification.reason?.message ?? 'It could not be verified.'} Send the document exactly as it was signed.`,
    );
  }
  const examined = examineXml(parsed, { now });
  refuseFaults(examined.faults);
  const tree = readXml(verification.verified);
  refuseFaults(issueDateFaults(tree));
  const summary = summarise(tree);
  const code = expected === 'ECF' ? securityCode(verification.signatureValue) : statedSecurityCode(tree);
  const signatureTime = textOf(groupOf(tree, 'ECF'), 'FechaHoraFirma');
  const { certificate } = verification;
  const validity =
    certificate === null
      ? []
      : signingTimeWarnings(signatureTime, new Date(certificate.not_before), new Date(certificate.not_after));
  const facts = factsOf(env, tree, summary, code, [
    ...signatureWarnings(verification, expected),
    ...examined.warnings,
    ...validity,
  ]);
  return {
    key: { env, issuerRnc: summary.issuer_rnc, encf: summary.encf },
    type: summary.ecf_type,
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    tree: withoutLines(tree),
    summary,
    facts,
    signedAt: (signatureTime === null ? null : parseSignatureDateTime(signatureTime)) ?? now,
    signerFingerprint: verification.certificate?.fingerprint ?? null,
    contentHash: contentHashOf(writeXml(tree).canonical),
  };
}

function parse(bytes: Buffer, maxBytes: number): CanonicalXml {
  try {
    return parseXml(bytes, { maxBytes });
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error;
    const place =
      error.line === null ? '' : ` (line ${error.line}${error.column === null ? '' : `, column ${error.column}`})`;
    throw new EmissionError('invalid_xml', `The document is refused: ${error.message}${place}`, { cause: error });
  }
}

function statedSecurityCode(tree: DocumentNode): string {
  return textOf(groupOf(groupOf(tree, 'RFCE'), 'Encabezado'), 'CodigoSeguridadeCF') ?? '';
}

function wrongRoot(found: string, expected: DocumentName): Fault {
  return {
    path: found,
    rule: 'schema.unknown',
    code: null,
    message: `a document with root ${expected} is expected here, not ${found}`,
    source: 'XSD e-CF v1.0, XSD RFCE v1.0',
    severity: 'error',
  };
}
