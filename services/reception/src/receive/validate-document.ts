import { hash } from 'node:crypto';
import { MAX_OBSERVATIONS } from '@ecf/contracts';
import {
  checkBusinessRules,
  type DocumentNode,
  type EcfType,
  type Fault,
  groupOf,
  parseSignatureDateTime,
  textOf,
} from '@ecf/domain';
import { type CanonicalXml, checkXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import {
  parseReceived,
  refusalText,
  type SignerFacts,
  type TrustCheck,
  validateSignature,
} from '@ecf/public-ingress/signed-document';
import { securityCode, signatureWarnings, verifyXml } from '@ecf/xml-signing';
import { ReceptionError } from '../errors.js';
import { type DocumentFacts, documentFacts, type QuotedParties, quotedParties } from './read-document.js';

/** Types that issuers deliver to receivers. The authority's own tool does not send 45, but it can be approved. */
const DELIVERED: ReadonlySet<EcfType> = new Set(['31', '33', '34', '44', '45']);
const MAX_FAULTS = 20;

interface Validated {
  readonly parties: QuotedParties;
  readonly ecfType: EcfType | null;
}

/** A document that can be received: its structure and signature are valid. */
export interface ValidDocument extends Validated {
  readonly motive: null;
  readonly facts: DocumentFacts;
  readonly signer: SignerFacts;
  /** First six characters of its SignatureValue. */
  readonly securityCode: string;
  /** SHA-256 of what the signature covers, and of the signature: the same for each way to write the document. */
  readonly contentSha256: string;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  /** A warning about the signature, business faults and warnings. They are recorded and never prevent receipt. */
  readonly observations: readonly Fault[];
}

/** A document with a fault for which the acknowledgement has a motive. */
export interface InvalidDocument extends Validated {
  readonly motive: 1 | 2;
  readonly particulars: string;
  readonly faults: readonly Fault[];
  /** The signer whose certificate verified the signature; null if none did. */
  readonly signer: SignerFacts | null;
}

/** The result of validating a document without its context. */
export type ValidationResult = ValidDocument | InvalidDocument;

export interface ValidateOptions {
  readonly now: Date;
  readonly trust: TrustCheck;
  readonly maxBytes: number;
}

/**
 * Validates a document without its context, in the order of the acknowledgement's motives: readable, structure (1),
 * signature (2). It reads the facts of a valid document from the bytes that the signature covers.
 *
 * Throws ReceptionError `unreadable_document` if no acknowledgement is possible. Business rules never refuse: the
 * authority's own test documents have expired sequences and `<Version>1</Version>`.
 */
export function validateDocument(bytes: Uint8Array, options: ValidateOptions): ValidationResult {
  const xml = parse(bytes, options.maxBytes);
  const checked = checkXml(xml);
  const parties = quotedParties(checked, xml);
  const validated = { parties, ecfType: checked.document === 'ECF' ? checked.type : null };
  if (checked.document !== 'ECF' || checked.faults.length > 0 || checked.type === null) {
    const faults = checked.faults.slice(0, MAX_FAULTS);
    return {
      ...validated,
      motive: 1,
      particulars: structureWords(checked.document, faults),
      faults,
      signer: null,
    };
  }
  if (!DELIVERED.has(checked.type)) {
    const particulars = `e-CF of type ${checked.type} are not delivered to receivers`;
    return { ...validated, motive: 1, particulars, faults: [], signer: null };
  }
  const verification = verifyXml(xml, options.now);
  const signedAt = signingTime(checked.tree) ?? options.now;
  const { doubt, signer } = validateSignature(verification, signedAt, options.trust, options.now);
  if (doubt !== null || signer === null || verification.verified === null || verification.signatureValue === null) {
    return {
      ...validated,
      motive: 2,
      particulars: doubt ?? 'the signature cannot be verified',
      faults: [],
      signer,
    };
  }
  const tree = verification.canonical === 'as-is' ? (checked.tree as DocumentNode) : readXml(verification.verified);
  const { faults, warnings } = checkBusinessRules(tree, { now: options.now });
  return {
    ...validated,
    motive: null,
    facts: documentFacts(tree, checked.type),
    signer,
    securityCode: securityCode(verification.signatureValue),
    contentSha256: hash('sha256', `${verification.verified.text}${verification.signatureValue}`, 'hex'),
    canonical: verification.canonical ?? 'as-is',
    observations: [...signatureWarnings(verification, 'ECF'), ...faults, ...warnings].slice(0, MAX_OBSERVATIONS),
  };
}

function parse(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  try {
    return parseReceived(bytes, maxBytes);
  } catch (cause) {
    if (!(cause instanceof XmlRefused)) throw cause;
    throw new ReceptionError('unreadable_document', refusalText(cause), `xml.${cause.code}`, { cause });
  }
}

function structureWords(document: string | null, faults: readonly Fault[]): string {
  if (document !== 'ECF') return `the root is ${document ?? 'unknown'}, not ECF`;
  const [first] = faults;
  if (first === undefined) return 'TipoeCF is not one of the ten types';
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  return `${first.path}: ${first.message} [${first.rule}]${more}`;
}

function signingTime(tree: DocumentNode | null): Date | null {
  return parseSignatureDateTime(textOf(groupOf(tree, 'ECF'), 'FechaHoraFirma') ?? '');
}
