import type { TaxpayerState } from '@ecf/contracts';
import { type SealingKeys, taxpayerCertificate } from '@ecf/kit';
import { CertificateError, checkValidity, deserialiseCertificate, type SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';

/** Why a taxpayer cannot sign. */
export type CertificateProblem =
  | 'certificate_missing'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_unusable';

/** Opens a taxpayer's sealed certificate; throws what `refuse` makes of the problem. */
export interface Certificates {
  open(taxpayer: TaxpayerState, now: Date): SigningCertificate;
}

/** Opened certificates that are kept; opening one costs about as much as a signature. */
const KEPT = 1_000;

/** Opens the certificates that travel sealed with the taxpayers. Opened ones are kept by account, RNC and fingerprint. */
export function createCertificates(
  sealingKeys: SealingKeys,
  refuse: (problem: CertificateProblem, message: string, cause?: unknown) => Error,
): Certificates {
  const opened = new LRUCache<string, SigningCertificate>({ max: KEPT });

  function open(taxpayer: TaxpayerState, sealed: string): SigningCertificate {
    const name = `${taxpayer.account_id}:${taxpayer.rnc}:${taxpayer.fingerprint}`;
    const known = opened.get(name);
    if (known !== undefined) return known;
    try {
      const certificate = deserialiseCertificate(
        sealingKeys.unseal(Buffer.from(sealed, 'base64'), taxpayerCertificate(taxpayer)),
      );
      opened.set(name, certificate);
      return certificate;
    } catch (cause) {
      throw refuse('certificate_unusable', `The stored certificate of ${taxpayer.rnc} cannot be opened.`, cause);
    }
  }

  return {
    open(taxpayer, now) {
      if (taxpayer.certificate === null) {
        throw refuse('certificate_missing', `${taxpayer.rnc} has no certificate to sign with yet.`);
      }
      const certificate = open(taxpayer, taxpayer.certificate);
      try {
        checkValidity(certificate, now);
      } catch (cause) {
        if (!(cause instanceof CertificateError)) throw cause;
        const code = cause.code === 'certificate_not_yet_valid' ? 'certificate_not_yet_valid' : 'certificate_expired';
        throw refuse(code, `The certificate of ${taxpayer.rnc} is not valid now.`, cause);
      }
      return certificate;
    },
  };
}
