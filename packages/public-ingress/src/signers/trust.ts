import { type CertificateFacts, chainFault, revocationFault, type TrustedIssuers } from '@ecf/xml-signing';
import type { Revocations } from './revocations.js';

/** Whether a certificate leads to a trusted issuer; null if no issuers are set. `doubt` says why it is not accepted. */
export interface TrustVerdict {
  readonly trusted: boolean | null;
  readonly doubt: string | null;
}

/**
 * Validates the certificate of a signer.
 * @param at the signing time that the document states; now where it states none
 */
export type TrustCheck = (certificate: CertificateFacts, at: Date, now: Date) => TrustVerdict;

/** The trust of a deployment. */
export interface TrustSettings {
  /** Null for any issuer. */
  readonly issuers: TrustedIssuers | null;
  /** Null if no file of revoked certificates is set. */
  readonly revocations: Revocations | null;
  /** A stated signing time counts for this long after the certificate expired: the signer states it, so it may be false. */
  readonly signingTimeToleranceMs: number;
}

/** The default: documents arrive late after a receiver was unreachable, and after contingency. */
export const SIGNING_TIME_TOLERANCE_SECONDS = 7 * 86_400;

/**
 * Without trusted issuers any certificate that was valid is accepted. A valid signature then proves that the document is
 * unchanged and that its signer held the key. It does not prove who the signer is. With trusted issuers the certificate must
 * lead to one of them.
 */
export function trustCheck({
  issuers,
  revocations = null,
  signingTimeToleranceMs = SIGNING_TIME_TOLERANCE_SECONDS * 1_000,
}: Pick<TrustSettings, 'issuers'> & Partial<TrustSettings>): TrustCheck {
  function fault(certificate: CertificateFacts, at: Date, now: Date): string | null {
    const revoked = revocations?.current() ?? null;
    // A stated signing time revives an issuer no longer than a signer.
    const issuersAt = new Date(Math.max(at.getTime(), now.getTime() - signingTimeToleranceMs));
    if (issuers !== null) return chainFault(certificate, issuers, at, revoked, issuersAt);
    return revoked === null ? null : revocationFault(certificate, revoked);
  }

  return (certificate, at, now) => {
    const found = fault(certificate, at, now);
    const trusted = issuers === null ? null : found === null;
    if (found !== null) return { trusted, doubt: `the certificate of ${certificate.subject} ${found}` };
    if (!certificate.valid_at_signing) return { trusted, doubt: outside(certificate) };
    const expiredMs = now.getTime() - Date.parse(certificate.not_after);
    return { trusted, doubt: expiredMs > signingTimeToleranceMs ? late(certificate, signingTimeToleranceMs) : null };
  };
}

function outside({ not_before, not_after }: CertificateFacts): string {
  return `the certificate is valid from ${not_before} to ${not_after}, which the signing time is outside of`;
}

function late({ not_after }: CertificateFacts, toleranceMs: number): string {
  return `the certificate expired at ${not_after}, and an earlier signing time counts for ${toleranceMs / 1_000} seconds after that (SIGNING_TIME_TOLERANCE)`;
}
