import type { Signer } from '@ecf/contracts';
import { storableText } from '@ecf/domain';
import { type CanonicalXml, parseXml, type XmlRefused } from '@ecf/ecf-xml';
import type { CertificateFacts, Verification } from '@ecf/xml-signing';
import type { TrustCheck } from './trust.js';

export { type TrustCheck, trustCheck } from './trust.js';

/**
 * Parses a document as senders send it. Some senders put blanks before the declaration, which no parser takes. Throws
 * XmlRefused.
 */
export function parseReceived(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  let start = MARK.every((byte, at) => bytes[at] === byte) ? MARK.length : 0;
  while (start < bytes.length && BLANKS.has(bytes[start] as number)) start++;
  return parseXml(start === 0 ? bytes : bytes.subarray(start), { maxBytes });
}

/** Why a document cannot be read, with its place where that is known. */
export function refusalText({ message, line, column }: XmlRefused): string {
  return line === null ? message : `${message} (line ${line}, column ${column ?? 1})`;
}

/** The byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];
const BLANKS: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x20, 0x09]);

/** The result for a signature: the reason why it is not accepted, or null, and the signer whose certificate verified it. */
export interface SignatureVerdict {
  readonly doubt: string | null;
  readonly signer: SignerFacts | null;
}

/**
 * Validates a signature. The certificate must have been valid at the signing time.
 *
 * @param signedAt the signing time that the document states; now where it states none
 */
export function validateSignature(
  verification: Verification,
  signedAt: Date,
  trust: TrustCheck,
  now: Date,
): SignatureVerdict {
  const { certificate } = verification;
  if (verification.signature === 'invalid')
    return { doubt: verification.reason?.message ?? 'the signature is not valid', signer: null };
  if (certificate === null) return { doubt: 'the certificate cannot be read', signer: null };
  const { trusted, doubt } = trust(certificate, signedAt, now);
  return { doubt, signer: signerFacts(certificate, trusted) };
}

/** The signer of a received document, from its certificate. */
export interface SignerFacts {
  readonly subject: string;
  readonly serialNumber: string;
  readonly issuer: string;
  /** SHA-256 of the certificate in lower-case hexadecimal. */
  readonly fingerprint: string;
  /** SHA-256 of its public key. */
  readonly keyFingerprint: string;
  readonly holderId: string | null;
  /** Whether it led to a trusted issuer when the document came; null if no issuers were set. */
  readonly trusted: boolean | null;
}

/** A stranger writes the certificate, so its texts are cut. */
const LONGEST_SUBJECT = 256;

function signerFacts(certificate: CertificateFacts, trusted: boolean | null): SignerFacts {
  return {
    subject: storableText(certificate.subject, LONGEST_SUBJECT),
    serialNumber: storableText(certificate.serial_number, LONGEST_SUBJECT),
    issuer: storableText(certificate.issuer, LONGEST_SUBJECT),
    fingerprint: certificate.fingerprint,
    keyFingerprint: certificate.keyFingerprint,
    holderId: certificate.holderId === null ? null : storableText(certificate.holderId, LONGEST_SUBJECT),
    trusted,
  };
}

/** A signer as answers show it. */
export function shownSigner(signer: SignerFacts, known: boolean): Signer {
  const { subject, serialNumber, issuer, fingerprint, trusted } = signer;
  return { subject, serial_number: serialNumber, issuer, fingerprint, trusted, known };
}
