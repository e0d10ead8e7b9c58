import type { CanonicalXml } from '@ecf/ecf-xml';

/** Stable codes of what is wrong with a signature. */
export type VerificationCode =
  | 'xml_refused'
  | 'comment_or_instruction'
  | 'signature_missing'
  | 'several_signatures'
  | 'signature_misplaced'
  | 'signature_structure'
  | 'foreign_algorithm'
  | 'reference_refused'
  | 'certificate_missing'
  | 'certificate_unreadable'
  | 'certificate_key'
  | 'digest_mismatch'
  | 'signature_mismatch';

/** The fault of a signature. verifyXml reports it as the reason and never throws it. */
export class SignatureRefused extends Error {
  readonly code: VerificationCode;

  constructor(code: VerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface VerificationReason {
  readonly code: VerificationCode;
  readonly message: string;
}

/**
 * The facts of the certificate that verified the signature. None of them changes the verdict on the signature. None is
 * proven before `chainFault` finds a chain to a trusted issuer, because anybody can write a certificate.
 */
export interface CertificateFacts {
  readonly subject: string;
  readonly serial_number: string;
  readonly issuer: string;
  /** ISO 8601 with offset -04:00. */
  readonly not_before: string;
  readonly not_after: string;
  /** At the signing time the document states; a document that states none (a seed) counts at `now`. */
  readonly valid_at_signing: boolean;
  /** SHA-256 of the DER in lower-case hexadecimal. */
  readonly fingerprint: string;
  /** SHA-256 of the public key (SubjectPublicKeyInfo) in lower-case hexadecimal: the same in a renewed certificate of one key. */
  readonly keyFingerprint: string;
  /** RNC, cédula or passport of the holder; null when the subject names none. */
  readonly holderId: string | null;
  /** The certificate itself, DER in base64. */
  readonly der: string;
  /** The other certificates of the KeyInfo, DER in base64, in their order. Nothing proves them. */
  readonly others: readonly string[];
}

export type RefusedElsewhere = 'blanks' | 'carriage-returns';

export interface Verification {
  readonly signature: 'valid' | 'invalid';
  /** Null when the signature is valid. */
  readonly reason: VerificationReason | null;
  /** The form in which the document verified: as received, or without blank text. */
  readonly canonical: 'as-is' | 'whitespace-dropped' | null;
  /**
   * Why software that reads as .NET does refuses the signature although it is valid: the blank text that it drops, or the
   * carriage returns that it reads as line feeds. Null if it verifies there too, and of an invalid signature.
   */
  readonly refusedElsewhere: RefusedElsewhere | null;
  /** The certificate whose key verified the signature; null when none did. */
  readonly certificate: CertificateFacts | null;
  /** Exactly what was signed, without the Signature: after verification read this and nothing else. */
  readonly verified: CanonicalXml | null;
  /** The base64 text of SignatureValue without blanks; null unless the signature is valid. */
  readonly signatureValue: string | null;
}
