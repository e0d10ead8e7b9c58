import type { VerificationCode } from './verification.js';

/** What is wrong with a signature. verifyXml never throws it but reports it as the reason. */
export class SignatureRefused extends Error {
  readonly code: VerificationCode;

  constructor(code: VerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}
