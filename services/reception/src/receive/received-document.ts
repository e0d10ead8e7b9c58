import type { ApprovalStatus, AuthorityStatus, ReceivedRefused } from '@ecf/contracts';
import type { Environment, Fault } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress/signed-document';
import type { Selectable } from 'kysely';
import type { ReceivedDocument as ReceivedTable, RefusedDocument as RefusedTable } from '../generated/tables.js';
import type { Motive } from './acknowledgement.js';
import type { DocumentFacts, QuotedParties } from './read-document.js';
import type { ValidDocument } from './validate-document.js';

/** The identity of a received e-CF: a number is unique for its issuer, per buyer and environment. */
export interface DocumentKey extends QuotedParties {
  readonly env: Environment;
}

/** Bytes in the XML store. */
export interface StoredBytes {
  readonly path: string;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

/** The origin of a call. */
export interface Origin {
  readonly requestId: string;
  readonly sender: string | null;
}

/** The columns of a signer in both tables of documents. */
interface SignerColumns {
  readonly certificateSubject: string;
  readonly certificateSerial: string;
  readonly certificateFingerprint: string;
  readonly certificateHolder: string | null;
  readonly certificateIssuer: string;
  readonly certificateKey: string;
  readonly certificateTrusted: boolean | null;
}

/** The values of columns whose types in PostgreSQL are wider. */
interface ReceivedValues extends DocumentFacts, SignerColumns {
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly observations: readonly Fault[];
  readonly approvalStatus: ApprovalStatus;
}

type Row<Table, Values> = Readonly<Omit<Selectable<Table>, keyof Values> & Values>;

/**
 * The record of a document that was acknowledged with Estado 0. A document of an earlier certification run has
 * `<environment>/<run>/<RNC>` as its `env`.
 */
export interface ReceivedDocument extends Row<ReceivedTable, ReceivedValues> {
  readonly authorityStatus: AuthorityStatus;
  /** When the authority answered last. */
  readonly authorityCheckedAt: Date | null;
}

/** A document that gets Estado 0, before it has an id. */
export type NewReceivedDocument = DocumentKey &
  ConfirmableFacts &
  Omit<
    Row<ReceivedTable, ReceivedValues>,
    | 'id'
    | 'env'
    | 'revision'
    | 'updatedAt'
    | 'answeredAt'
    | 'promotedAt'
    | 'approvalStatus'
    | 'approvalDatetime'
    | 'approvalRevision'
  >;

/** The document that holds a number, as far as answers to later documents under that number need it. */
export type NumberHolder = Pick<
  ReceivedDocument,
  'id' | 'xmlPath' | 'xmlSha256' | 'arecfPath' | 'arecfSha256' | 'answeredAt' | 'promotedAt' | 'contentSha256'
>;

/** An answer with Estado 1. `holderId` names the document that holds the number (motive 3). */
export type NewRefusedDocument = DocumentKey &
  Omit<Selectable<RefusedTable>, 'id' | 'env' | 'motive' | 'faults' | 'conflictOf' | 'documentId'> & {
    readonly motive: Motive;
    readonly faults: readonly Fault[];
    /** True if the holder of the number has other bytes, so that the two compete for the number. */
    readonly competes: boolean;
    /** The query to the authority about a competing document; null for others. */
    readonly confirmable: ConfirmableFacts | null;
    /** The account that gets the event `received.refused`; null if none. */
    readonly notify: Pick<ReceivedRefused, 'account_id' | 'ecf_type'> | null;
  };

/** The facts of a document by which the authority finds it, and how urgent the first query is. */
export interface ConfirmableFacts {
  /** First six characters of its SignatureValue. */
  readonly securityCode: string;
  readonly totalAmount: string;
  /** Whether the issuer used this signer before in a confirmed document. */
  readonly signerKnown: boolean;
}

/** A signed document with other bytes under the number of a received one; its bytes were not kept. */
export interface UnkeptConflict extends SignerColumns {
  /** It keeps this id when it takes the number. */
  readonly id: number;
  readonly sha256: string;
  readonly receivedAt: Date;
  readonly authorityStatus: AuthorityStatus;
  /** Whether the issuer used the signer's key before in a confirmed document. */
  readonly known: boolean;
}

/** A signed document with other bytes under the number of a received one, and kept. */
export interface Conflict extends UnkeptConflict {
  readonly xmlPath: string;
}

/** The record of a valid document. */
export function newReceivedDocument(
  { parties, facts, signer, securityCode, contentSha256, canonical, observations }: ValidDocument,
  receipt: Omit<NewReceivedDocument, keyof QuotedParties | keyof DocumentFacts | keyof SignerColumns | keyof Judged>,
): NewReceivedDocument {
  const judged: Judged = { securityCode, contentSha256, canonical, observations };
  return { ...parties, ...facts, ...signerColumns(signer), ...judged, ...receipt };
}

type Judged = Pick<NewReceivedDocument, 'securityCode' | 'contentSha256' | 'canonical' | 'observations'>;

function signerColumns(signer: SignerFacts): SignerColumns {
  return {
    certificateSubject: signer.subject,
    certificateSerial: signer.serialNumber,
    certificateFingerprint: signer.fingerprint,
    certificateHolder: signer.holderId,
    certificateIssuer: signer.issuer,
    certificateKey: signer.keyFingerprint,
    certificateTrusted: signer.trusted,
  };
}

/** The signer's columns of a refused document; not every one has a signer. */
export function refusedSignerColumns(signer: SignerFacts | null) {
  if (signer !== null) return signerColumns(signer);
  return {
    certificateSubject: null,
    certificateSerial: null,
    certificateFingerprint: null,
    certificateHolder: null,
    certificateIssuer: '',
    certificateKey: '',
    certificateTrusted: null,
  };
}

/** The signer of a document or of one that competes with it. */
export function signerOf(row: SignerColumns): SignerFacts {
  return {
    subject: row.certificateSubject,
    serialNumber: row.certificateSerial,
    issuer: row.certificateIssuer,
    fingerprint: row.certificateFingerprint,
    keyFingerprint: row.certificateKey,
    holderId: row.certificateHolder,
    trusted: row.certificateTrusted,
  };
}
