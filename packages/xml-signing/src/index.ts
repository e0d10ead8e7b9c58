export {
  type CertificateFile,
  type OpenedFile,
  openCertificateFile,
  openedCertificate,
} from './certificates/certificate-file.js';
export { deserialiseCertificate, serialiseCertificate } from './certificates/certificate-serialisation.js';
export { openCertificate, tooCostlyFile } from './certificates/open-certificate.js';
export { checkValidity, type SigningCertificate } from './certificates/signing-certificate.js';
export { CertificateError, type CertificateErrorCode, SigningError, type SigningErrorCode } from './errors.js';
export { type SignedXml, signedLength, signXml } from './sign.js';
export { isSigned, securityCode, signatureValueOf } from './signature-value.js';
export { type RevokedCertificates, readRevokedCertificates } from './verification/revoked-certificates.js';
export { signatureWarnings } from './verification/signature-warnings.js';
export {
  chainFault,
  readTrustedIssuers,
  revocationFault,
  type TrustedIssuers,
} from './verification/trusted-issuers.js';
export {
  type CertificateFacts,
  SignatureRefused,
  type Verification,
  type VerificationCode,
  type VerificationReason,
} from './verification/verification.js';
export { verifyXml } from './verification/verify.js';
