import { storableText } from '@ecf/domain';
import { type CanonicalXml, parseXml } from '@ecf/ecf-xml';
import type { CertificateFacts, Verification } from '@ecf/xml-signing';
import type { TrustCheck } from './trust.js';

/**
 * Parses a document as senders send it: some put line ends before the declaration, which no parser takes; they are no
 * part of the document. Throws XmlRefused.
 */
export function parseReceived(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  let start = 0;
  while (start < bytes.length && BLANKS.has(bytes[start] as number)) start++;
  return parseXml(start === 0 ? bytes : bytes.subarray(start), { maxBytes });
}

const BLANKS: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x20, 0x09]);

/**
 * Why a signature does not count, or null. Whoever signed must have held a valid certificate when signing.
 *
 * @param signedAt when the document says that it was signed; now where it does not say
 */
export function distrust(verification: Verification, signedAt: Date, trust: TrustCheck): string | null {
  if (verification.signature === 'invalid') return verification.reason?.message ?? 'the signature does not hold';
  const { certificate } = verification;
  if (certificate === null) return 'the certificate cannot be read';
  if (!certificate.valid_at_signing) {
    return `the certificate is valid from ${certificate.not_before} to ${certificate.not_after}, which the signing time is outside of`;
  }
  return trust(certificate, signedAt);
}

/** Who signed a received document, as its certificate says. */
export interface SignerFacts {
  readonly subject: string;
  readonly serialNumber: string;
  readonly fingerprint: string;
  readonly holderId: string | null;
}

/** A certificate is its maker's to write; a record and its events are not. */
const LONGEST_SUBJECT = 256;

export function signerFacts(certificate: CertificateFacts): SignerFacts {
  return {
    subject: storableText(certificate.subject, LONGEST_SUBJECT),
    serialNumber: storableText(certificate.serial_number, LONGEST_SUBJECT),
    fingerprint: certificate.fingerprint,
    holderId: certificate.holderId === null ? null : storableText(certificate.holderId, LONGEST_SUBJECT),
  };
}
