import type { VerificationCode } from './verification.js';

/** The signature is refused before any arithmetic, or by it. Caught by verifyXml, which reports it as the reason. */
export class SignatureRefused extends Error {
  readonly code: VerificationCode;

  constructor(code: VerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}
