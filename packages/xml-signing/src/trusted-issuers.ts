import { X509Certificate } from 'node:crypto';
import type { CertificateFacts } from './verification.js';

/** The certificate authorities whose certificates a deployment trusts. */
export type TrustedIssuers = ReadonlyMap<string, X509Certificate>;

/** A chain in the field has two or three certificates. */
const LONGEST_CHAIN = 6;

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
 * Intermediate certificates may come from the document or from the trusted list. Revocation is not asked.
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

function hasIssued(issuer: X509Certificate, subject: X509Certificate): boolean {
  if (!issuer.ca || !subject.checkIssued(issuer)) return false;
  const key = issuer.publicKey;
  return (key.asymmetricKeyDetails?.modulusLength ?? 0) <= 8192 && subject.verify(key);
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
