import { createHash, type X509Certificate } from 'node:crypto';

/** The facts of a certificate, in the form that both signing and verifying report. */
export interface CertificateDescription {
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly holderId: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly fingerprint: string;
  /** SHA-256 of the public key (SubjectPublicKeyInfo) in lower-case hexadecimal. */
  readonly keyFingerprint: string;
}

/** @throws Error when the certificate's dates are none */
export function describeCertificate(certificate: X509Certificate): CertificateDescription {
  const [notBefore, notAfter] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  if (Number.isNaN(notBefore.getTime()) || Number.isNaN(notAfter.getTime())) throw new Error('dates are unreadable');
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    serialNumber: certificate.serialNumber,
    holderId: holderId(certificate.subject),
    notBefore,
    notAfter,
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
    keyFingerprint: createHash('sha256')
      .update(certificate.publicKey.export({ format: 'der', type: 'spki' }))
      .digest('hex'),
  };
}

/**
 * The identification of the holder: RNC, cédula or passport number. The subject's serialNumber (2.5.4.5) has it after its
 * kind and country (`IDCDO-00112345678`, `PASDO-...`), sometimes with dashes.
 *
 * @param subject as X509Certificate gives it, one attribute a line
 * @source Descripción Técnica p. 60 ("SN")
 */
export function holderId(subject: string | undefined): string | null {
  const line = subject?.split('\n').find((attribute) => attribute.startsWith('serialNumber='));
  const value = line
    ?.slice('serialNumber='.length)
    .replace(/^[A-Z]{3,5}-/, '')
    .replace(/[\s-]/g, '');
  return value ? value : null;
}

/** Certificates without a subject or issuer exist; node gives undefined for them whatever its types say. */
function oneLine(name: string | undefined): string {
  return name?.split('\n').join(', ') ?? '';
}
