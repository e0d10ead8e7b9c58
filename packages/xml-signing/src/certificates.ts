import type { SigningCertificate } from './signing-certificate.js';

/**
 * Opens a .p12 or .pfx file.
 *
 * @param now the moment at which the certificate has to be valid
 * @throws CertificateError
 */
export function openCertificate(_p12: Uint8Array, _password: string, _now: Date = new Date()): SigningCertificate {
  throw new Error('not yet');
}

/** Throws CertificateError `certificate_expired` or `certificate_not_yet_valid`. */
export function checkValidity(_certificate: SigningCertificate, _now: Date = new Date()): void {
  throw new Error('not yet');
}
