import { type KeyObject, X509Certificate } from 'node:crypto';
import { certificateFields } from '../certificates/certificate-fields.js';
import { hasAcceptedSize } from './find-signer.js';
import type { RevokedCertificates } from './revoked-certificates.js';
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
 * Why a signer is not trusted, as a clause; null if a chain of certificates leads from it to a trusted issuer. Each of them
 * must be valid at the given time and not be revoked. Path lengths and key usages must allow what they did. Intermediate
 * certificates may come from the document or from the trusted list; their cost is bounded.
 *
 * @param revoked null if no revocation list is known
 */
export function chainFault(
  signer: Pick<CertificateFacts, 'der' | 'others'>,
  trusted: TrustedIssuers,
  at: Date,
  revoked: RevokedCertificates | null,
): string | null {
  try {
    const candidates = [...trusted.values(), ...signer.others.flatMap(readOffered)];
    let current = read(signer.der);
    let verifications = 0;
    let fault = 'does not lead to an issuer that this receiver trusts';
    /** @param between authorities between the issuer and the signer */
    const hasIssued = (issuer: X509Certificate, subject: X509Certificate, between: number): boolean => {
      if (!issuer.ca || !subject.checkIssued(issuer) || !isQuicklyVerified(issuer.publicKey)) return false;
      if (++verifications > MOST_VERIFICATIONS || !subject.verify(issuer.publicKey)) return false;
      const { pathLength, keyUsage } = certificateFields(issuer);
      if (keyUsage?.signsCertificates === false) fault = 'has an issuer whose key usage does not allow certificates';
      else if (pathLength !== null && between > pathLength)
        fault = `has an issuer that allows ${pathLength} authorities below it, and ${between} are`;
      else return true;
      return false;
    };
    if (certificateFields(current).keyUsage?.signsDocuments === false)
      return 'has a key usage that allows no signatures';
    for (let length = 0; length < LONGEST_CHAIN; length++) {
      if (!isValidAt(current, at)) return length === 0 ? fault : 'has an issuer that was not valid at the signing time';
      if (revoked?.has(current)) return length === 0 ? REVOKED : 'has an issuer that is revoked';
      if (trusted.has(current.fingerprint256)) return null;
      const [subject, between] = [current, length];
      const issuer = candidates.find((candidate) => hasIssued(candidate, subject, between));
      if (issuer === undefined) return fault;
      current = issuer;
    }
    return fault;
  } catch {
    return 'cannot be read in full';
  }
}

const REVOKED = 'is revoked';

/** Whether a certificate is revoked, as {@link chainFault} says it; null if it is not. For receivers that trust any issuer. */
export function revocationFault(signer: Pick<CertificateFacts, 'der'>, revoked: RevokedCertificates): string | null {
  return revoked.has(read(signer.der)) ? REVOKED : null;
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
