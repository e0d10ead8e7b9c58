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
 * The reason why a signer is not trusted, as a clause; null if a chain of certificates leads from it to a trusted
 * issuer. The signer must be valid at `at`, its issuers at `issuersAt`, and none of them revoked. Path lengths and key
 * usages must allow their signatures. Intermediate certificates may come from the document or from the trusted list;
 * their cost is bounded. An issuer may have several certificates with its name and key, as after a renewal; one is
 * enough.
 *
 * @param revoked null if no revocation list is known
 */
export function chainFault(
  signer: Pick<CertificateFacts, 'der' | 'others'>,
  trusted: TrustedIssuers,
  at: Date,
  revoked: RevokedCertificates | null,
  issuersAt: Date = at,
): string | null {
  let candidates: readonly X509Certificate[] = [];
  let verifications = 0;

  function hasIssued(issuer: X509Certificate, subject: X509Certificate): boolean {
    if (!issuer.ca || !subject.checkIssued(issuer) || !isQuicklyVerified(issuer.publicKey)) return false;
    return ++verifications <= MOST_VERIFICATIONS && subject.verify(issuer.publicKey);
  }

  /** @param below certificates between the issuer and the signer, both excluded */
  function issuerFault(issuer: X509Certificate, below: number): string | null {
    const { pathLength, keyUsage } = certificateFields(issuer);
    if (keyUsage?.signsCertificates === false) return 'has an issuer whose key usage does not allow certificates';
    if (pathLength !== null && below > pathLength)
      return `has an issuer that allows ${pathLength} authorities below it, and ${below} are`;
    if (!isValidAt(issuer, issuersAt)) return 'has an issuer that is expired or not valid yet';
    if (revoked?.has(issuer)) return 'has an issuer that is revoked';
    return trusted.has(issuer.fingerprint256) ? null : faultAbove(issuer, below + 1);
  }

  function faultAbove(subject: X509Certificate, below: number): string | null {
    let fault: string = UNTRUSTED;
    if (below === LONGEST_CHAIN - 1) return fault;
    for (const issuer of candidates) {
      if (!hasIssued(issuer, subject)) continue;
      const found = issuerFault(issuer, below);
      if (found === null) return null;
      fault = found;
    }
    return fault;
  }

  try {
    candidates = [...trusted.values(), ...signer.others.flatMap(readOffered)];
    const own = read(signer.der);
    if (certificateFields(own).keyUsage?.signsDocuments === false) return 'has a key usage that allows no signatures';
    if (!isValidAt(own, at)) return UNTRUSTED;
    if (revoked?.has(own)) return REVOKED;
    return trusted.has(own.fingerprint256) ? null : faultAbove(own, 0);
  } catch {
    return 'cannot be read in full';
  }
}

const UNTRUSTED = 'does not lead to an issuer that this receiver trusts';
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
