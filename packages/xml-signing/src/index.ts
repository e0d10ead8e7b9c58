export { deserialiseCertificate, serialiseCertificate } from './certificate-serialisation.js';
export { checkValidity, openCertificate } from './certificates.js';
export { CertificateError, type CertificateErrorCode, SigningError, type SigningErrorCode } from './errors.js';
export { securityCode } from './security-code.js';
export { type SignedXml, signXml } from './sign.js';
export type { SigningCertificate } from './signing-certificate.js';
export { isTrusted, readTrustedIssuers, type TrustedIssuers } from './trusted-issuers.js';
export type { CertificateFacts, Verification, VerificationCode, VerificationReason } from './verification.js';
export { verifyXml } from './verify.js';
