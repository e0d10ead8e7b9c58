import { type KeyObject, X509Certificate } from 'node:crypto';
import { hasAcceptedSize } from './find-signer.js';
import type { CertificateFacts } from './verification.js';

/** The certificate authorities whose certificates a deployment trusts. */
export type TrustedIssuers = ReadonlyMap<string, X509Certificate>;

/** A chain in the field has two or three certificates. */
const LONGEST_CHAIN = 6;
/** Signatures of certificates that are verified for one document: a sender may include many issuers with one name. */
const MOST_VERIFICATIONS = 16;

/**
 * Reads a PEM file of trusted issuers; text between the certificates is ignored.
 *
 * @throws Error when there is no certificate in it, or one that cannot be read
 */
export function readTrustedIssuers(pem: string): TrustedIssuers {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (blocks === null) throw new Error('The file of trusted issuers holds no certificate in PEM form.');
  return new Map(blocks.map((block) => new X509Certificate(block)).map((issuer) => [issuer.fingerprint256, issuer]));
}

/**
 * Whether a chain of certificates leads from the signer to a trusted issuer, each of them valid at the given time.
 * Intermediate certificates may come from the document or from the trusted list; their cost is bounded. Revocation is
 * not checked.
 */
export function isTrusted(
  signer: Pick<CertificateFacts, 'der' | 'others'>,
  trusted: TrustedIssuers,
  at: Date,
): boolean {
  try {
    const offered = signer.others.flatMap(readOffered);
    const candidates = [...trusted.values(), ...offered];
    let current = read(signer.der);
    let verifications = 0;
    const hasIssued = (issuer: X509Certificate, subject: X509Certificate): boolean => {
      if (!issuer.ca || !subject.checkIssued(issuer) || !isQuicklyVerified(issuer.publicKey)) return false;
      return ++verifications <= MOST_VERIFICATIONS && subject.verify(issuer.publicKey);
    };
    for (let length = 0; length < LONGEST_CHAIN && isValidAt(current, at); length++) {
      if (trusted.has(current.fingerprint256)) return true;
      const subject = current;
      const issuer = candidates.find((candidate) => hasIssued(candidate, subject));
      if (issuer === undefined) return false;
      current = issuer;
    }
    return false;
  } catch {
    return false;
  }
}

/** Issuers may have keys on named curves; RSA keys are bounded as those of signers are. */
function isQuicklyVerified(key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  return hasAcceptedSize(key) || (type === 'ec' && details?.namedCurve !== undefined) || type === 'ed25519';
}

function isValidAt(certificate: X509Certificate, at: Date): boolean {
  return new Date(certificate.validFrom) <= at && at <= new Date(certificate.validTo);
}

function readOffered(der: string): X509Certificate[] {
  try {
    return [read(der)];
  } catch {
    return [];
  }
}

function read(der: string): X509Certificate {
  return new X509Certificate(Buffer.from(der, 'base64'));
}
