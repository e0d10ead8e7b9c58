import { isAscii } from 'node:buffer';
import { storableText } from '@ecf/domain';
import { type CanonicalXml, parseXml } from '@ecf/ecf-xml';
import { type CertificateFacts, isTrusted, type TrustedIssuers, type Verification } from '@ecf/xml-signing';

/**
 * Parses a document as senders send it. Some senders put blanks before the declaration, which no parser takes. Others
 * declare an encoding that their bytes are not in. The declaration is not signed. Throws XmlRefused.
 */
export function parseReceived(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  let start = MARK.every((byte, at) => bytes[at] === byte) ? MARK.length : 0;
  while (start < bytes.length && BLANKS.has(bytes[start] as number)) start++;
  const document = start === 0 ? bytes : bytes.subarray(start);
  return parseXml(withPlainDeclaration(document), { maxBytes });
}

/** Longest declaration that is read. */
const DECLARATION = 200;

/**
 * Replaces a wrong declared encoding by blanks, so that line and column of a fault stay right. Some programs declare UTF-16
 * and send UTF-8. ASCII bytes are the same in every encoding that senders declare.
 */
function withPlainDeclaration(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(bytes.subarray(0, DECLARATION)).toString('latin1');
  const found =
    /^(?:\u00ef\u00bb\u00bf)?<\?xml\s[^>]*?(\sencoding\s*=\s*(["'])(utf-16|iso-8859-1|windows-1252)\2)[^>]*\?>/i.exec(
      head,
    );
  const [whole, declared, , name] = found ?? [];
  if (whole === undefined || declared === undefined || name === undefined) return bytes;
  if (name.toLowerCase() !== 'utf-16' && !isAscii(bytes)) return bytes;
  const plain = Buffer.from(bytes);
  const at = whole.indexOf(declared);
  plain.fill(' ', at, at + declared.length);
  return plain;
}

/** The byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];
const BLANKS: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x20, 0x09]);

/** Says why a certificate is not accepted, or null when it is. `at` is the moment at which it has to be trusted. */
export type TrustCheck = (certificate: CertificateFacts, at: Date) => string | null;

/**
 * Without trusted issuers any certificate is accepted: a valid signature then proves that the document is whole and that its
 * signer held the key. It does not prove who the signer is. With trusted issuers the certificate must lead to one of them.
 */
export function trustCheck(issuers: TrustedIssuers | null): TrustCheck {
  if (issuers === null) return () => null;
  return (certificate, at) =>
    isTrusted(certificate, issuers, at)
      ? null
      : `the certificate of ${certificate.subject} does not lead to an issuer that this receiver trusts`;
}

/**
 * Why a signature is not accepted, or null. The certificate must have been valid at the signing time.
 *
 * @param signedAt the signing time that the document states; now where it states none
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

/** The signer of a received document, from its certificate. */
export interface SignerFacts {
  readonly subject: string;
  readonly serialNumber: string;
  readonly fingerprint: string;
  readonly holderId: string | null;
}

/** A stranger writes the certificate, so its texts are cut. */
const LONGEST_SUBJECT = 256;

export function signerFacts(certificate: CertificateFacts): SignerFacts {
  return {
    subject: storableText(certificate.subject, LONGEST_SUBJECT),
    serialNumber: storableText(certificate.serial_number, LONGEST_SUBJECT),
    fingerprint: certificate.fingerprint,
    holderId: certificate.holderId === null ? null : storableText(certificate.holderId, LONGEST_SUBJECT),
  };
}
