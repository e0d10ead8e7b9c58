import { hash } from 'node:crypto';
import type { DocumentReader, PendingDocument } from '@ecf/archive';
import type { Environment } from '@ecf/domain';
import type { QuotaStore, SignerUse } from '@ecf/public-ingress';
import { quotaHour, type StoredBytesQuota, type Storer, signedStorer } from '@ecf/public-ingress/stored-bytes-quota';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import { type AcknowledgementDraft, draftAcknowledgement, type Motive, rejectionReason } from './acknowledgement.js';
import type { Buyer } from './buyers.js';
import type { DocumentStore } from './ports.js';
import {
  type DocumentKey,
  type NewRefusedDocument,
  type NumberHolder,
  newReceivedDocument,
  type Origin,
  refusedSignerColumns,
  type StoredBytes,
} from './received-document.js';
import type { RefusedDocumentQuota, Unkept } from './refused-bytes.js';
import { acknowledgementPath, receivedDocumentPath, type StoredDocumentName } from './storage-paths.js';
import type { ValidationResult, ValidDocument } from './validate-document.js';

/** A document as it came in. */
export interface Arrival {
  readonly bytes: Uint8Array;
  readonly env: Environment;
  /** When the request arrived, by the clock. */
  readonly arrivedAt: Date;
  readonly origin: Origin;
  /** The name by which quotas count the sender. */
  readonly quotaSender: string;
}

/** A signed acknowledgement, stored and ready to send. */
export interface Acknowledged {
  readonly acknowledgement: Uint8Array;
  /** Null = Estado 0. */
  readonly motive: Motive | null;
  /** The reason in words, fit for a header; null for Estado 0. */
  readonly reason: string | null;
  readonly ecfType: string | null;
  /** Id of the received document; null for Estado 1. */
  readonly documentId: number | null;
  /** True if this repeats the first acknowledgement. */
  readonly repeated: boolean;
  /** Request id of an overlapping call with the same bytes whose acknowledgement this call shares; null = its own. */
  readonly sharedWith: string | null;
  /** Why the bytes of a refused document were not kept; null where they were. */
  readonly unkept: Unkept | null;
}

/** A validated document, with the taxpayer that answers for its buyer. */
export interface Incoming extends Arrival {
  readonly sha256: string;
  readonly validation: ValidationResult;
  readonly key: DocumentKey;
  readonly buyer: Buyer;
}

/** Events of different refusals that one sender, whose signer is not known, can cause for a taxpayer in 24 hours. */
const NOTIFIED_REFUSALS = 100;

/**
 * Signs the acknowledgement, and commits the record with the bytes of both documents. All quotas are checked before the
 * signature: a document that they refuse costs none.
 */
export interface RecordDocument {
  /** Estado 0. Null, without a record, where another document took the number meanwhile. */
  accept(incoming: Incoming, document: ValidDocument): Promise<Acknowledged | null>;
  /** Estado 1. @param holder the document that holds the number (motive 3), else null */
  refuse(incoming: Incoming, motive: Motive, particulars: string, holder: NumberHolder | null): Promise<Acknowledged>;
  /** The first acknowledgement, byte for byte. */
  acknowledgeAgain(incoming: Incoming, holder: NumberHolder): Promise<Acknowledged>;
}

export interface RecordParts {
  readonly documents: DocumentStore;
  /** Reads what the store committed, before and after it reaches the archive. */
  readonly archive: DocumentReader;
  /** Whether the RNC used the signer's key before in a confirmed document. */
  readonly isKnown: (use: SignerUse) => Promise<boolean>;
  /** Before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly quotas: QuotaStore;
  readonly clock: () => Date;
  readonly stored: StoredBytesQuota;
  readonly refusedQuota: RefusedDocumentQuota;
}

export function createRecordDocument(parts: RecordParts): RecordDocument {
  const { documents, archive, isKnown, stored, refusedQuota } = parts;
  async function accept(incoming: Incoming, document: ValidDocument): Promise<Acknowledged | null> {
    const { bytes } = incoming;
    const storer = await storerOf(isKnown, incoming);
    const draft = draftOf(parts.clock(), incoming, null);
    await stored.take(storer, bytes.length + draft.acknowledgement.length);
    const signed = await sign(parts.recordUse, incoming, draft);
    const xml = fileOf(incoming, false);
    const received = newReceivedDocument(document, {
      env: incoming.env,
      accountId: incoming.buyer.signer.account_id,
      receivedAt: incoming.arrivedAt,
      bytes: bytes.length,
      xmlPath: xml.path,
      xmlSha256: xml.sha256,
      arecfPath: signed.stored.path,
      arecfSha256: signed.stored.sha256,
      acknowledgedAt: signed.at,
      signerKnown: storer.signer?.known ?? false,
      ...incoming.origin,
    });
    const documentId = await documents.add(received, [xml, signed.file]);
    return documentId === null ? null : { ...estado0(incoming, documentId), acknowledgement: signed.file.bytes };
  }

  async function refuse(
    incoming: Incoming,
    motive: Motive,
    particulars: string,
    holder: NumberHolder | null,
  ): Promise<Acknowledged> {
    const { validation } = incoming;
    const reason = rejectionReason(motive, particulars);
    const storer = await storerOf(isKnown, incoming);
    const draft = draftOf(parts.clock(), incoming, motive);
    const kept = await keepRefused(incoming, storer, holder, draft.acknowledgement.length);
    const signed = await sign(parts.recordUse, incoming, draft);
    const refusal: NewRefusedDocument = {
      ...incoming.key,
      motive,
      reason,
      faults: validation.motive === null ? [] : validation.faults,
      receivedAt: incoming.arrivedAt,
      bytes: incoming.bytes.length,
      sha256: kept.sha256,
      xmlPath: kept.path,
      arecfPath: signed.stored.path,
      arecfSha256: signed.stored.sha256,
      acknowledgedAt: signed.at,
      ...refusedSignerColumns(validation.signer),
      holderId: holder?.id ?? null,
      competes: holder !== null && holder.xmlSha256 !== incoming.sha256 && !isSameContent(incoming, holder),
      contentSha256: validation.motive === null ? validation.contentSha256 : null,
      confirmable: confirmableFacts(validation, storer),
      ...incoming.origin,
      notify: await accountToNotify(parts, incoming, { motive, reason }, storer),
    };
    await documents.refuse(refusal, [...kept.files, signed.file]);
    const answer = { ecfType: validation.ecfType, documentId: null, repeated: false, sharedWith: null };
    return { ...answer, motive, reason, acknowledgement: signed.file.bytes, unkept: kept.unkept };
  }

  async function acknowledgeAgain(incoming: Incoming, holder: NumberHolder): Promise<Acknowledged> {
    const acknowledgement = await archive.get(holder.arecfPath, holder.arecfSha256);
    return { ...estado0(incoming, holder.id), acknowledgement, repeated: true };
  }

  /** A document that is stored already is not stored again, also in another spelling. Stored bytes count towards the quotas. */
  async function keepRefused(
    incoming: Incoming,
    storer: Storer,
    holder: NumberHolder | null,
    acknowledgementBytes: number,
  ): Promise<{ path: string | null; sha256: string; files: readonly PendingDocument[]; unkept: Unkept | null }> {
    const { sha256, validation } = incoming;
    const { kept, confirmed } = await presentDocument(documents, holder, incoming);
    if (kept !== null || isSameContent(incoming, holder)) {
      await stored.take(storer, acknowledgementBytes);
      return { ...(kept ?? { path: null, sha256 }), files: [], unkept: null };
    }
    const sizes = { documentBytes: incoming.bytes.length, acknowledgementBytes };
    const holderId = validation.signer?.holderId ?? null;
    const unkept = await refusedQuota.take({ storer, ...sizes, holder, holderId, confirmed });
    if (unkept !== null) return { path: null, sha256, files: [], unkept };
    const file = fileOf(incoming, true);
    return { path: file.path, sha256, files: [file], unkept };
  }

  return { accept, refuse, acknowledgeAgain };
}

/** The acknowledgement of a document, before its signature. */
interface Draft {
  readonly motive: Motive | null;
  readonly at: Date;
  readonly acknowledgement: AcknowledgementDraft;
}

function draftOf(at: Date, { key, buyer }: Incoming, motive: Motive | null): Draft {
  return { motive, at, acknowledgement: draftAcknowledgement({ ...key, motive, at }, buyer.certificate) };
}

/** Signs the acknowledgement of a document. */
async function sign(recordUse: RecordCertificateUse, incoming: Incoming, { motive, at, acknowledgement }: Draft) {
  const { signer, certificate } = incoming.buyer;
  await recordUse({ account: signer.account_id, rnc: signer.rnc, use: 'arecf', certificate });
  const bytes = await acknowledgement.sign();
  const sha256 = hash('sha256', bytes, 'hex');
  const stored = { path: acknowledgementPath(pathName(incoming, sha256, motive !== null)), sha256 };
  return { stored, file: { ...stored, bytes }, at };
}

/** Each new refusal notifies the taxpayer here. A sender whose signer is not known causes a bounded number of them in 24 hours. */
async function accountToNotify(
  { documents, quotas }: Pick<RecordParts, 'documents' | 'quotas'>,
  { buyer, key, validation }: Incoming,
  refusal: Pick<NewRefusedDocument, 'motive' | 'reason'>,
  { at, sender, signer }: Storer,
): Promise<NewRefusedDocument['notify']> {
  if (!buyer.served || (await documents.wasRefused({ ...refusal, ...key }))) return null;
  const scope = `refusals:${key.env}:${key.buyerRnc}:${sender}`;
  const claim = { scope, hour: quotaHour(at), amount: 1, limit: NOTIFIED_REFUSALS };
  if (!signer?.known && (await quotas.take([claim])) !== null) return null;
  return { account_id: buyer.signer.account_id, ecf_type: validation.ecfType };
}

/** The facts for the query to the authority about a document; null for one that is not valid. */
function confirmableFacts(validation: ValidationResult, { signer }: Storer): NewRefusedDocument['confirmable'] {
  if (validation.motive !== null) return null;
  const { securityCode, facts } = validation;
  return { securityCode, totalAmount: facts.totalAmount, signerKnown: signer?.known ?? false };
}

/**
 * Whether a document is the one that holds its number, written in another way: with other blanks or comments outside the
 * signature.
 */
export function isSameContent({ validation }: Pick<Incoming, 'validation'>, holder: NumberHolder | null): boolean {
  return validation.motive === null && holder !== null && holder.contentSha256 === validation.contentSha256;
}

/** Finds the same document under the number: its bytes, null where they are not kept, and whether it is confirmed. */
async function presentDocument(
  documents: Pick<DocumentStore, 'competitor' | 'keptRefusal'>,
  holder: NumberHolder | null,
  { sha256, validation, key }: Incoming,
): Promise<{ kept: StoredBytes | null; confirmed: boolean }> {
  const contentSha256 = validation.motive === null ? validation.contentSha256 : null;
  if (holder === null) {
    const kept = contentSha256 === null ? null : await documents.keptRefusal(key, contentSha256);
    return { kept, confirmed: false };
  }
  if (holder.xmlSha256 === sha256) return { kept: { path: holder.xmlPath, sha256 }, confirmed: false };
  return (await documents.competitor(holder.id, { sha256, contentSha256 })) ?? { kept: null, confirmed: false };
}

/** The sender and signer that count for the quotas. Only the signer of a valid document can be known. */
async function storerOf(isKnown: RecordParts['isKnown'], incoming: Incoming): Promise<Storer> {
  const { validation, key, arrivedAt: at, quotaSender: sender } = incoming;
  const { signer } = validation;
  if (signer === null) return { at, sender, signer: null };
  const use = { env: key.env, rnc: key.issuerRnc, signer, at };
  return signedStorer(sender, use, validation.motive === null && (await isKnown(use)));
}

/** The received bytes under their path in the archive. */
function fileOf(incoming: Incoming, refused: boolean): PendingDocument {
  const { sha256, bytes } = incoming;
  return { path: receivedDocumentPath(pathName(incoming, sha256, refused)), sha256, bytes };
}

/** The document is stored under the RNC of the taxpayer that answers: a stranger's RNC never becomes a folder. */
function pathName(incoming: Incoming, sha256: string, refused: boolean): StoredDocumentName {
  return { ...incoming.key, holderRnc: incoming.buyer.signer.rnc, at: incoming.arrivedAt, sha256, refused };
}

function estado0(incoming: Incoming, documentId: number): Omit<Acknowledged, 'acknowledgement'> {
  const { ecfType } = incoming.validation;
  return { motive: null, reason: null, ecfType, documentId, repeated: false, sharedWith: null, unkept: null };
}
