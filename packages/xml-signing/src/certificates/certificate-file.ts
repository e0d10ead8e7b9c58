import { CertificateError, type CertificateErrorCode } from '../errors.js';
import { deserialiseCertificate, serialiseCertificate } from './certificate-serialisation.js';
import { openCertificate } from './open-certificate.js';
import type { SigningCertificate } from './signing-certificate.js';

/** A .p12 or .pfx file to be opened by another thread. */
export interface CertificateFile {
  readonly p12: Uint8Array;
  readonly password: string;
  /** The moment at which the certificate has to be valid. */
  readonly now: Date;
}

/** The answer of that thread: the certificate as `serialiseCertificate` writes it, or the refusal. */
export type OpenedFile =
  | { readonly opened: Uint8Array }
  | { readonly refused: { readonly code: CertificateErrorCode; readonly message: string } };

/** The task of the other thread: `openCertificate` with an answer that can be passed between threads. */
export function openCertificateFile({ p12, password, now }: CertificateFile): OpenedFile {
  try {
    return { opened: serialiseCertificate(openCertificate(p12, password, now)) };
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}

/**
 * The certificate of an answer.
 *
 * @throws CertificateError
 */
export function openedCertificate(answer: OpenedFile): SigningCertificate {
  if ('opened' in answer) return deserialiseCertificate(answer.opened);
  throw new CertificateError(answer.refused.code, answer.refused.message);
}
