import { isAscii } from 'node:buffer';
import { storableText } from '@ecf/domain';
import { type CanonicalXml, parseXml } from '@ecf/ecf-xml';
import type { CertificateFacts, Verification } from '@ecf/xml-signing';
import type { TrustCheck } from './trust.js';

/**
 * Parses a document as senders send it. Some put line ends before the declaration, behind a byte order mark too, which no
 * parser takes; they are no part of the document. Others declare an encoding that their bytes are not in, or that makes no difference to them. The
 * declaration is no part of what is signed. Throws XmlRefused.
 */
export function parseReceived(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  let start = MARK.every((byte, at) => bytes[at] === byte) ? MARK.length : 0;
  while (start < bytes.length && BLANKS.has(bytes[start] as number)) start++;
  const document = start === 0 ? bytes : bytes.subarray(start);
  return parseXml(withPlainDeclaration(document), { maxBytes });
}

/** Longest declaration that is looked at. */
const DECLARATION = 200;

/**
 * Writers of text in memory declare UTF-16 and are then sent as UTF-8, which the bytes themselves show; in ASCII alone, every
 * other encoding of the field says the same. The declaration gives way to blanks then, so that places stay where they are.
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
