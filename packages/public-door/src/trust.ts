import { type CertificateFacts, isTrusted, type TrustedIssuers } from '@ecf/xml-signing';

/** Says why a certificate is not accepted, or null when it is. `at` is the moment it has to be trusted at. */
export type TrustCheck = (certificate: CertificateFacts, at: Date) => string | null;

/**
 * Without trusted issuers any certificate is accepted: a valid signature then proves that the document is whole and that
 * its signer held the key, not who the signer is. With them, the certificate must lead to one of theirs.
 */
export function trustCheck(issuers: TrustedIssuers | null): TrustCheck {
  if (issuers === null) return () => null;
  return (certificate, at) =>
    isTrusted(certificate, issuers, at)
      ? null
      : `the certificate of ${certificate.subject} does not lead to an issuer that this receiver trusts`;
}
