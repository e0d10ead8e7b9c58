import { createHash } from 'node:crypto';
import {
  type AuthorityMessage,
  type DocumentSummary,
  type EcfType,
  type EmissionState,
  type Environment,
  type Fault,
  isRefusedAsRepeat,
  type SubmissionRoute,
  storedEnvironment,
  toCalendarDate,
} from '@ecf/domain';

/** The identity of an invoice: one emission exists for each environment, certification run, issuer and number. */
export interface DocumentKey {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  /** The certification run, from 1; without it, the present one. */
  readonly run?: number | undefined;
}

/** The kind of request. It decides how a repeat is compared and which fields the answer has. */
export type DocumentSource = 'json' | 'signed-ecf' | 'signed-rfce';

/** A document in the XML store; `sha256` in lower-case hexadecimal. */
export interface StoredFile {
  readonly path: string;
  readonly sha256: string;
}

/** Facts of a signed document that never change. */
export interface SignedFacts {
  readonly summary: DocumentSummary;
  /** First six characters of the full document's SignatureValue. */
  readonly securityCode: string;
  readonly qrUrl: string;
  /** `YYYY-MM-DD HH:MM:SS`, Dominican time; null for a summary, which states none. */
  readonly signatureDateTime: string | null;
  readonly warnings: readonly Fault[];
}

/** The last verdict of the authority on an attempt. */
export interface VerdictFacts {
  readonly code: string | null;
  readonly messages: readonly AuthorityMessage[];
  readonly sequenceUsed: boolean | null;
  /** ISO 8601 with offset -04:00. */
  readonly dateReceived: string | null;
}

/** A submission that has ended: an earlier attempt, or a copy of this one that was refused as a repeat. */
export interface PastSubmission extends VerdictFacts {
  readonly attempt: number;
  readonly trackId: string | null;
  /** ISO 8601. */
  readonly submittedAt: string | null;
  readonly state: EmissionState;
  /** As in {@link SignedFacts}. */
  readonly securityCode: string;
  /** Number of submissions that are left out before this one. */
  readonly omittedBefore?: number;
}

/** Reason why a person has to look at an attempt. Work continues where it can. */
export type AlarmKind =
  /** Undecided for more than 72 hours. */
  | 'overdue'
  /** Signed in contingency and not sent or decided within 72 hours of the authority's return. */
  | 'contingency-late'
  /** The environment offers no query, and a resend without one could duplicate the document. */
  | 'no-query'
  /** No certificate is available for a login. */
  | 'no-certificate'
  /** The stored bytes cannot be read. */
  | 'document-lost';

/** The latest attempt of an emission: signed bytes and their state. */
export interface Attempt extends DocumentKey {
  readonly run: number;
  readonly emissionId: number;
  readonly accountId: string;
  readonly ecfType: EcfType;
  /** When the first attempt was committed. */
  readonly createdAt: Date;

  /** Counts from 1. */
  readonly attempt: number;
  /** Increases with every change of the emission, over all attempts. Guards against lost updates. */
  readonly revision: number;
  readonly state: EmissionState;
  readonly source: DocumentSource;
  readonly route: SubmissionRoute;
  /**
   * SHA-256 of the document without signature and signing time, decimal numbers by value: requests with the same one are equal.
   * Earlier versions made it of more, so another one does not show that two documents differ.
   */
  readonly contentHash: string;
  readonly facts: SignedFacts;
  /** The full document. After /submit_fc it is the summary, the only document. */
  readonly xml: StoredFile;
  /** The consumer summary, on its route. */
  readonly rfce: StoredFile | null;
  /** FechaHoraFirma of the document. A summary has none, so it is the time of arrival. */
  readonly signedAt: Date;
  /** When the attempt was committed. */
  readonly committedAt: Date;
  /** SHA-256 of the certificate that signed. */
  readonly signerFingerprint: string | null;
  /**
   * Whether a certificate came with the request. It is kept, sealed, until the attempt is decided and, if needed,
   * delivered.
   */
  readonly hasOwnCertificate: boolean;

  readonly trackId: string | null;
  /** Whether the trackId was found by a query, not given as the answer to a send. */
  readonly trackIdAdopted: boolean;
  /** Revision of the latest result that the status poller published for the trackId; 0 before the first. */
  readonly statusRevision: number;
  readonly verdict: VerdictFacts;
  /** When the bytes were last sent. */
  readonly submittedAt: Date | null;
  /** Sends with an unknown outcome, also of copies whose trackId the authority did not know. */
  readonly lostSends: number;
  /** Answers 004 so far. */
  readonly transientRefusals: number;
  /** Time of the first answer "not found"; null if there was none, or the authority knows the document. */
  readonly notFoundSince: Date | null;
  /** Consecutive tries without a result. */
  readonly failures: number;
  /** Due time, or end of the lease; null if no work is left. */
  readonly nextActionAt: Date | null;
  /** The instance that leased the attempt; null without a lease. */
  readonly owner: string | null;
  /** Key ({@link documentKey}) of the referenced document, or null if we did not issue it. */
  readonly modifies: string | null;
  /** The attempt at that document which this one was checked against; null if there is none, or it is unknown. */
  readonly modifiedAttempt: number | null;
  readonly alarm: AlarmKind | null;
  /** Submission history, oldest first. If it is long, only the first and the latest entries. */
  readonly past: readonly PastSubmission[];
  /** Id of the API key, and the request, that submitted it; null if unknown. */
  readonly submittedBy?: string | null;
  readonly requestId?: string | null;
  /** The caller's own reference; null without one. */
  readonly ownReference?: string | null;
  /** The batch line that made it (`keyOfLine`); null if it did not come in a batch. */
  readonly batchLine?: string | null;
  /** Since when the authority was unreachable, for a document that was signed in contingency. */
  readonly contingencySince?: Date | null;
  /** The end of the 72 hours from the authority's return; null before it. */
  readonly deadline?: Date | null;
  /** Place in the contingency queue; null once the document is sent. */
  readonly queuedAt?: Date | null;
}

/** Values of a new attempt. */
export type NewAttempt = Pick<
  Attempt,
  | 'env'
  | 'issuerRnc'
  | 'encf'
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
  | 'modifiedAttempt'
  | 'submittedBy'
  | 'requestId'
  | 'ownReference'
  | 'batchLine'
  | 'contingencySince'
>;

export const NO_VERDICT: VerdictFacts = { code: null, messages: [], sequenceUsed: null, dateReceived: null };

/** True while a submission of the attempt may be in flight. */
export function isBeingSent({ state }: Pick<Attempt, 'state'>): boolean {
  return state === 'sending' || state === 'resending';
}

/** The number was used before, so another system has a document under it, which may be accepted. */
export function isHeldByAnother({ state, verdict }: Pick<Attempt, 'state' | 'verdict'>): boolean {
  return state === 'rejected-used' && isRefusedAsRepeat({ status: 'Rechazado', messages: verdict.messages });
}

/** The key of a document of a run; without `run`, of the first. */
export function documentKey({ env, issuerRnc, encf, run = 1 }: DocumentKey): string {
  return `${storedEnvironment({ env, run })}:${issuerRnc}:${encf}`;
}

/** The names by which the authority is queried about a document. */
export function nameOf({ env, issuerRnc, encf }: DocumentKey): Omit<DocumentKey, 'run'> {
  return { env, issuerRnc, encf };
}

/** A document before it is stored. */
export interface ArchivedFile extends StoredFile {
  readonly bytes: Buffer;
}

/**
 * Archive path of an issued document: `<env>/<ecf|rfce>/<issuer RNC>/issued/<yyyy>/<mm>/<RNC><eNCF>-<12 hex>.xml`.
 * The checksum in the name separates the documents of several attempts, and of requests that compete for a number.
 */
export function archived(kind: 'ecf' | 'rfce', key: DocumentKey, bytes: Buffer, storedAt: Date): ArchivedFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const name = `${key.issuerRnc}${key.encf}-${sha256.slice(0, 12)}.xml`;
  return { path: `${archiveFolder(kind, key, storedAt)}/${name}`, sha256, bytes };
}

/** Folder of the archive for the documents that an issuer stores in the month. */
export function archiveFolder(
  kind: 'ecf' | 'rfce',
  { env, issuerRnc }: Pick<DocumentKey, 'env' | 'issuerRnc'>,
  storedAt: Date,
): string {
  const [year, month] = toCalendarDate(storedAt).split('-');
  return `${env}/${kind}/${issuerRnc}/issued/${year}/${month}`;
}
