/** Why a call gets no acknowledgement. */
export type ReceptionErrorCode =
  /** The bytes are not a document whose issuer, buyer and number can be read. */
  | 'unreadable_document'
  /** The buyer is not served here and no taxpayer is configured to say so under a signature. */
  | 'buyer_not_served'
  | 'certificate_missing'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_unusable'
  /** A signed seed that is not ours, was used, is too old, or whose signature or certificate is not valid. */
  | 'seed_refused'
  /** A provider's token that is missing, forged, expired, or of another environment. */
  | 'token_refused'
  /** A dependency of the answer cannot be reached now. */
  | 'unavailable'
  /** A queue is full. */
  | 'overloaded'
  | 'not_found'
  /** Several documents fit and the caller has to say which. */
  | 'ambiguous'
  /** The authority rejected the document, so it has no printed form. */
  | 'not_printable';

/** An outcome without acknowledgement. `kind` distinguishes outcomes with the same code (`xml.doctype`, `seed.expired`). */
export class ReceptionError extends Error {
  override readonly name = 'ReceptionError';
  constructor(
    readonly code: ReceptionErrorCode,
    message: string,
    readonly kind: string = code,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
