import type { CertificateFactsBody } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { InvalidRequest, type SealingKeys, taxpayerCertificate } from '@ecf/kit';
import { CertificateError, type SigningCertificate, serialiseCertificate } from '@ecf/xml-signing';
import type { CertificateFacts, SealedCertificate } from './ports.js';

/** Opens a .p12 or .pfx file whose certificate is valid at a moment. CertificateError says why it cannot sign. */
export type OpenCertificate = (p12: Uint8Array, password: string, now: Date) => Promise<SigningCertificate>;

/**
 * Opens an uploaded .p12 or .pfx file and seals its certificate and key. A file that cannot sign now (wrong password, expired,
 * not yet valid, without key, ...) is 422 with the reason.
 */
export async function sealUploaded(
  upload: { file: Uint8Array; password: string; account_id: string; rnc: string },
  options: { openCertificate: OpenCertificate; sealingKeys: SealingKeys; now: Date },
): Promise<SealedCertificate> {
  try {
    const certificate = await options.openCertificate(upload.file, upload.password, options.now);
    const { subject, serialNumber, notBefore, notAfter, fingerprint } = certificate;
    const sealed = options.sealingKeys.seal(serialiseCertificate(certificate), taxpayerCertificate(upload));
    return { subject, serialNumber, notBefore, notAfter, fingerprint, sealed };
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    const part = error.code === 'wrong_password' ? 'password' : 'certificate';
    throw new InvalidRequest([{ loc: ['body', part], msg: error.message, type: error.code }], { cause: error });
  }
}

/** The facts of a certificate as `/admin` and `taxpayers.v1` give them; times in Dominican time. */
export function certificateBody(facts: CertificateFacts): CertificateFactsBody {
  return {
    subject: facts.subject,
    serial_number: facts.serialNumber,
    not_before: toIsoDominican(facts.notBefore),
    not_after: toIsoDominican(facts.notAfter),
    fingerprint: facts.fingerprint,
  };
}
