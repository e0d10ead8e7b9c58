import type { KeyObject, X509Certificate } from 'node:crypto';
import { CertificateError } from '../errors.js';
import { describeCertificate } from './certificate-description.js';

/** A private key with its certificate, ready to sign: the key is parsed once and kept as a KeyObject. */
export interface SigningCertificate {
  readonly privateKey: KeyObject;
  /** The holder's certificate, DER in base64 without line breaks, as in X509Certificate. */
  readonly certificate: string;
  /** The issuers' certificates that came with it, nearest first, each as `certificate`. */
  readonly chain: readonly string[];
  /** `CN=..., serialNumber=IDCDO-..., C=DO` */
  readonly subject: string;
  readonly issuer: string;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly serialNumber: string;
  /** RNC, cédula or passport of the holder: the subject's serialNumber without its kind (`IDCDO-`) and dashes. */
  readonly holderId: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the DER in lower-case hexadecimal. */
  readonly fingerprint: string;
}

/**
 * Throws CertificateError `certificate_expired` or `certificate_not_yet_valid`. A certificate that was opened last
 * year must be checked again before it signs.
 */
export function checkValidity(
  certificate: Pick<SigningCertificate, 'subject' | 'notBefore' | 'notAfter'>,
  now: Date = new Date(),
): void {
  const fault = validityFault(certificate, now);
  if (fault !== null) throw fault;
}

/** The error for a certificate that is not valid at a moment; null if it is. */
export function validityFault(
  certificate: Pick<SigningCertificate, 'subject' | 'notBefore' | 'notAfter'>,
  now: Date,
): CertificateError | null {
  if (now > certificate.notAfter) {
    return new CertificateError(
      'certificate_expired',
      `The certificate of ${certificate.subject} expired on ${certificate.notAfter.toISOString()}. Renew it with its issuer and upload the new file.`,
    );
  }
  if (now < certificate.notBefore) {
    return new CertificateError(
      'certificate_not_yet_valid',
      `The certificate of ${certificate.subject} is valid only from ${certificate.notBefore.toISOString()} on. Use it from then on, or check this machine's clock.`,
    );
  }
  return null;
}

export function signingCertificate(key: KeyObject, certificate: X509Certificate, chain: string[]): SigningCertificate {
  return {
    privateKey: key,
    certificate: certificate.raw.toString('base64'),
    chain,
    ...describeCertificate(certificate),
  };
}
