import type {
  AuthorityMessage,
  DocumentSummary,
  EcfType,
  EmissionState,
  Environment,
  Fault,
  SubmissionRoute,
} from '@ecf/domain';

/** What identifies an invoice for good: one emission exists per environment, issuer and number. */
export interface DocumentKey {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** How the document came in; it decides what a repeat is compared by and which fields the answer has. */
export type DocumentSource = 'json' | 'signed-ecf' | 'signed-rfce';

/** A document in the XML store; `sha256` in lower-case hexadecimal. */
export interface StoredFile {
  readonly path: string;
  readonly sha256: string;
}

/** What is known of a signed document and never changes. */
export interface SignedFacts {
  readonly summary: DocumentSummary;
  /** First six characters of the full document's SignatureValue. */
  readonly securityCode: string;
  readonly qrUrl: string;
  /** `YYYY-MM-DD HH:MM:SS`, Dominican time; null for a summary, which states none. */
  readonly signatureDateTime: string | null;
  readonly warnings: readonly Fault[];
}

/** What the authority said last about an attempt. */
export interface VerdictFacts {
  readonly code: string | null;
  readonly messages: readonly AuthorityMessage[];
  readonly sequenceUsed: boolean | null;
  /** ISO 8601 with offset -04:00. */
  readonly dateReceived: string | null;
}

/** A submission that is over: an earlier attempt, or a copy of this one that was refused as a repeat. */
export interface PastSubmission extends VerdictFacts {
  readonly attempt: number;
  readonly trackId: string | null;
  /** ISO 8601. */
  readonly submittedAt: string | null;
  readonly state: EmissionState;
  /** So many more between the submission before it in the list and this one, for which there is no room. */
  readonly omittedBefore?: number;
}

/** Why a person has to look at an attempt. Work goes on where it can. */
export type AlarmKind =
  /** Undecided for more than 72 hours. */
  | 'overdue'
  /** The environment has no service to ask, and sending again unasked could make two documents of one. */
  | 'cannot-ask'
  /** No certificate is left to get a token with. */
  | 'no-certificate'
  /** The stored bytes cannot be read back. */
  | 'document-lost';

/** The latest attempt of an emission: signed bytes and how far they have come. */
export interface Attempt extends DocumentKey {
  readonly emissionId: number;
  readonly accountId: string;
  readonly ecfType: EcfType;
  /** When the first attempt was committed. */
  readonly createdAt: Date;

  /** Counts from 1. */
  readonly attempt: number;
  /** Increases with every change of the emission, over all attempts; guards against lost updates. */
  readonly revision: number;
  readonly state: EmissionState;
  readonly source: DocumentSource;
  readonly route: SubmissionRoute;
  /** SHA-256 of what makes two requests the same: the document before FechaHoraFirma was filled, or the signed bytes. */
  readonly contentHash: string;
  readonly facts: SignedFacts;
  /** The full document; after /submit_fc the summary stands here too, since nothing else exists. */
  readonly xml: StoredFile;
  /** The consumer summary, on its route. */
  readonly rfce: StoredFile | null;
  /** By the document's own FechaHoraFirma; a summary has none, then when it came. */
  readonly signedAt: Date;
  /** When the attempt was committed. */
  readonly committedAt: Date;
  /** SHA-256 of the certificate that signed. */
  readonly signerFingerprint: string | null;
  /** A certificate that came with the request is kept, sealed, until the attempt is decided and, where it goes to its buyer, delivered. */
  readonly hasOwnCertificate: boolean;

  readonly trackId: string | null;
  /** The trackId was found by asking, not given as the answer to a send. */
  readonly trackIdAdopted: boolean;
  /** Revision of the latest result of the trackId that the status poller told; 0 before the first. */
  readonly statusRevision: number;
  readonly verdict: VerdictFacts;
  /** When the bytes were last sent. */
  readonly submittedAt: Date | null;
  /** Sends whose outcome stayed unknown. */
  readonly lostSends: number;
  /** Answers 004 so far. */
  readonly transientRefusals: number;
  /** When the authority first said that it does not know the document; null when it was never asked or knows it. */
  readonly notFoundSince: Date | null;
  /** Tries in a row that brought nothing new. */
  readonly failures: number;
  /** When the background looks at it next; null when nothing is left to do by itself. */
  readonly nextActionAt: Date | null;
  /** The instance that works on it now. */
  readonly owner: string | null;
  /** Key of the document of ours that this one refers to ({@link documentKey}), null when it refers to none. */
  readonly modifies: string | null;
  readonly alarm: AlarmKind | null;
  /** Submissions under this number that are over, oldest first; of many the first and the latest. */
  readonly past: readonly PastSubmission[];
}

/** What a fresh attempt starts from. */
export type NewAttempt = Pick<
  Attempt,
  | keyof DocumentKey
  | 'accountId'
  | 'ecfType'
  | 'source'
  | 'route'
  | 'contentHash'
  | 'facts'
  | 'xml'
  | 'rfce'
  | 'signedAt'
  | 'signerFingerprint'
  | 'hasOwnCertificate'
  | 'modifies'
>;

export const NO_VERDICT: VerdictFacts = { code: null, messages: [], sequenceUsed: null, dateReceived: null };

export function documentKey({ env, issuerRnc, encf }: DocumentKey): string {
  return `${env}:${issuerRnc}:${encf}`;
}

/** The names by which the authority is queried about a document. */
export function nameOf({ env, issuerRnc, encf }: DocumentKey): DocumentKey {
  return { env, issuerRnc, encf };
}
