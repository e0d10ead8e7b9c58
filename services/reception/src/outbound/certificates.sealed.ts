import type { TaxpayerState } from '@ecf/contracts';
import { unseal } from '@ecf/service-kit';
import { CertificateError, checkValidity, deserialiseCertificate, type SigningCertificate } from '@ecf/xml-signing';
import { ReceptionError } from '../core/errors.js';
import type { Certificates } from '../core/ports.js';

/** Opened certificates that are kept; opening one costs about as much as a signature. */
const KEPT = 1_000;

/** Opens the certificates that travel sealed with the taxpayers. Opened ones are kept by fingerprint and RNC. */
export function createCertificates(masterKey: Uint8Array): Certificates {
  const opened = new Map<string, SigningCertificate>();

  function open(taxpayer: TaxpayerState, sealed: string): SigningCertificate {
    const name = `${taxpayer.rnc}:${taxpayer.fingerprint}`;
    const known = opened.get(name);
    if (known !== undefined) return known;
    try {
      const certificate = deserialiseCertificate(unseal(masterKey, Buffer.from(sealed, 'base64'), taxpayer.rnc));
      if (opened.size >= KEPT) opened.delete(opened.keys().next().value as string);
      opened.set(name, certificate);
      return certificate;
    } catch (cause) {
      throw new ReceptionError(
        'certificate_unusable',
        `The stored certificate of ${taxpayer.rnc} cannot be opened.`,
        'certificate_unusable',
        { cause },
      );
    }
  }

  return {
    open(taxpayer, now) {
      if (taxpayer.certificate === null) {
        throw new ReceptionError('certificate_missing', `${taxpayer.rnc} has no certificate to acknowledge with yet.`);
      }
      const certificate = open(taxpayer, taxpayer.certificate);
      try {
        checkValidity(certificate, now);
      } catch (cause) {
        if (!(cause instanceof CertificateError)) throw cause;
        const code = cause.code === 'certificate_not_yet_valid' ? 'certificate_not_yet_valid' : 'certificate_expired';
        throw new ReceptionError(code, `The certificate of ${taxpayer.rnc} is not valid now.`, code, { cause });
      }
      return certificate;
    },
  };
}
