import { createHash } from 'node:crypto';
import { type ReceivedBytesQuota, signerFacts } from '@ecf/public-ingress';
import { signAcknowledgement } from '../acknowledgements/acknowledgement.js';
import { type Motive, rejectionReason } from '../acknowledgements/motives.js';
import type { Ports } from '../ports.js';
import type { Receiver } from '../receivers.js';
import type { Answers } from './answers.js';
import type { Acknowledged, Arrival } from './receive-document.js';
import type { DocumentKey, NumberHolder, StoredBytes } from './received-document.js';
import type { RefusedDocumentQuota, Unkept } from './refused-bytes.js';
import { acknowledgementPath, receivedDocumentPath, type StoredDocumentName } from './storage-paths.js';
import type { ValidationResult, ValidDocument } from './validate-document.js';

/** A validated document, with the taxpayer that answers for its buyer. */
export interface Incoming extends Arrival {
  readonly sha256: string;
  readonly validation: ValidationResult;
  readonly key: DocumentKey;
  readonly receiver: Receiver;
}

/** Signs the acknowledgement, stores it with the document and commits the record. */
export interface RecordDocument {
  /** Estado 0. Null, and nothing recorded, where another document took the number meanwhile. */
  accept(incoming: Incoming, document: ValidDocument): Promise<Acknowledged | null>;
  /** Estado 1. @param holder the document that holds the number (motive 3), else null */
  refuse(incoming: Incoming, motive: Motive, particulars: string, holder: NumberHolder | null): Promise<Acknowledged>;
  /** The first acknowledgement, byte for byte. */
  acknowledgeAgain(incoming: Incoming, holder: NumberHolder): Promise<Acknowledged>;
}

export interface RecordParts {
  readonly answers: Pick<Answers, 'giveAgain'>;
  readonly receivedQuota: ReceivedBytesQuota;
  readonly refusedQuota: RefusedDocumentQuota;
}

export function createRecordDocument(
  { documents, archive, clock }: Pick<Ports, 'documents' | 'archive' | 'clock'>,
  { answers, receivedQuota, refusedQuota }: RecordParts,
): RecordDocument {
  async function accept(incoming: Incoming, document: ValidDocument): Promise<Acknowledged | null> {
    const { bytes, arrivedAt: receivedAt, network } = incoming;
    await receivedQuota.take({ bytes: bytes.length, receivedAt, network });
    const [xml, signed] = await Promise.all([keep(incoming, false), acknowledge(incoming, null)]);
    const documentId = await documents.add({
      key: incoming.key,
      accountId: incoming.receiver.signer.account_id,
      facts: document.facts,
      receivedAt,
      acknowledgedAt: signed.at,
      bytes: bytes.length,
      xml,
      acknowledgement: signed.stored,
      signer: signerFacts(document.certificate),
      canonical: document.canonical,
      observations: document.observations,
      origin: incoming.origin,
    });
    return documentId === null ? null : { ...estado0(incoming, documentId), acknowledgement: signed.bytes };
  }

  async function refuse(
    incoming: Incoming,
    motive: Motive,
    particulars: string,
    holder: NumberHolder | null,
  ): Promise<Acknowledged> {
    const { validation, sha256 } = incoming;
    const reason = rejectionReason(motive, particulars);
    const [kept, signed] = await Promise.all([keepRefused(incoming, holder), acknowledge(incoming, motive)]);
    await documents.refuse({
      key: incoming.key,
      motive,
      reason,
      faults: validation.motive === null ? [] : validation.faults,
      receivedAt: incoming.arrivedAt,
      bytes: incoming.bytes.length,
      sha256,
      xmlPath: kept.path,
      acknowledgement: signed.stored,
      acknowledgedAt: signed.at,
      signer: validation.certificate === null ? null : signerFacts(validation.certificate),
      holderId: holder?.id ?? null,
      competes: holder !== null && holder.xml.sha256 !== sha256,
      origin: incoming.origin,
    });
    const answer = { ecfType: validation.ecfType, documentId: null, repeated: false, sharedWith: null };
    return { ...answer, motive, reason, acknowledgement: signed.bytes, unkept: kept.unkept };
  }

  async function acknowledgeAgain(incoming: Incoming, holder: NumberHolder): Promise<Acknowledged> {
    const { path, sha256 } = holder.acknowledgement;
    const acknowledgement = await archive.get(path, sha256);
    await answers.giveAgain(holder.id);
    return { ...estado0(incoming, holder.id), acknowledgement, repeated: true };
  }

  async function acknowledge(incoming: Incoming, motive: Motive | null) {
    const at = clock();
    const bytes = await signAcknowledgement({ ...incoming.key, motive, at }, incoming.receiver.certificate);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const stored = { path: acknowledgementPath(pathName(incoming, sha256, motive !== null)), sha256 };
    await archive.put(stored.path, bytes);
    return { bytes, stored, at };
  }

  async function keep(incoming: Incoming, refused: boolean): Promise<StoredBytes> {
    const { sha256 } = incoming;
    const path = receivedDocumentPath(pathName(incoming, sha256, refused));
    await archive.put(path, incoming.bytes);
    return { path, sha256 };
  }

  /** Bytes that are stored already are not stored again; others count against the quotas. */
  async function keepRefused(
    incoming: Incoming,
    holder: NumberHolder | null,
  ): Promise<{ path: string | null; unkept: Unkept | null }> {
    const { sha256, network, arrivedAt: receivedAt } = incoming;
    if (holder?.xml.sha256 === sha256) return { path: holder.xml.path, unkept: null };
    const present = holder === null ? null : await documents.keptConflict(holder.id, sha256);
    if (present !== null) return { path: present, unkept: null };
    const signer = incoming.validation.certificate;
    const unkept = await refusedQuota.take({ bytes: incoming.bytes.length, receivedAt, network, holder, signer });
    return unkept === null ? { path: (await keep(incoming, true)).path, unkept } : { path: null, unkept };
  }

  return { accept, refuse, acknowledgeAgain };
}

/** The document is stored under the RNC of the taxpayer that answers: a stranger's RNC never becomes a folder. */
function pathName(incoming: Incoming, sha256: string, refused: boolean): StoredDocumentName {
  return { ...incoming.key, holderRnc: incoming.receiver.signer.rnc, at: incoming.arrivedAt, sha256, refused };
}

function estado0(incoming: Incoming, documentId: number): Omit<Acknowledged, 'acknowledgement'> {
  const { ecfType } = incoming.validation;
  return { motive: null, reason: null, ecfType, documentId, repeated: false, sharedWith: null, unkept: null };
}
