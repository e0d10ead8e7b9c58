/** Why a certificate cannot be used. Each comes with a sentence that names the remedy and never the password. */
export type CertificateErrorCode =
  | 'not_a_pkcs12'
  | 'wrong_password'
  | 'unsupported_encryption'
  | 'private_key_missing'
  | 'certificate_missing'
  | 'too_many_entries'
  | 'key_mismatch'
  | 'key_not_rsa'
  | 'key_size'
  | 'key_usage'
  | 'no_signing_key'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'unreadable_store';

/** A certificate file, or the certificate inside it, cannot be used for signing. */
export class CertificateError extends Error {
  readonly code: CertificateErrorCode;

  constructor(code: CertificateErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CertificateError';
    this.code = code;
  }
}

/** signXml refuses a text that this signature profile cannot carry. */
export type SigningErrorCode = 'already_signed' | 'not_canonical';

export class SigningError extends Error {
  readonly code: SigningErrorCode;

  constructor(code: SigningErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SigningError';
    this.code = code;
  }
}
