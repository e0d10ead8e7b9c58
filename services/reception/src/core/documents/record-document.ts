import { createHash } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import type { ReceivedBytesQuota } from '@ecf/public-ingress/stored-bytes-quota';
import type { PendingDocument } from '@ecf/service-kit/xml-store';
import { signAcknowledgement } from '../acknowledgements/acknowledgement.js';
import { type Motive, rejectionReason } from '../acknowledgements/motives.js';
import type { Ports } from '../ports.js';
import type { Receiver } from '../receivers.js';
import type { Answers } from './answers.js';
import type {
  DocumentKey,
  NewReceivedDocument,
  NewRefusedDocument,
  NumberHolder,
  Origin,
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
  /** The same among the moments of {@link Answers}. */
  readonly moment: number;
  readonly origin: Origin;
  /** Network of the sender, by which quotas count: an IPv4 address or an IPv6 /48. */
  readonly network: string;
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
  /** True where this is the first acknowledgement once more. */
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
  readonly receiver: Receiver;
}

/** Signs the acknowledgement, and commits the record with the bytes of both documents. */
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
    const signed = await acknowledge(incoming, null);
    const xml = fileOf(incoming, false);
    const received: NewReceivedDocument = {
      key: incoming.key,
      accountId: incoming.receiver.signer.account_id,
      facts: document.facts,
      receivedAt,
      acknowledgedAt: signed.at,
      bytes: bytes.length,
      xml: { path: xml.path, sha256: xml.sha256 },
      acknowledgement: signed.stored,
      signer: document.signer,
      securityCode: document.securityCode,
      canonical: document.canonical,
      observations: document.observations,
      origin: incoming.origin,
    };
    const documentId = await documents.add(received, [xml, signed.file]);
    return documentId === null ? null : { ...estado0(incoming, documentId), acknowledgement: signed.file.bytes };
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
    const refusal: NewRefusedDocument = {
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
      signer: validation.signer,
      holderId: holder?.id ?? null,
      competes: holder !== null && holder.xml.sha256 !== sha256,
      confirmable:
        validation.motive === null
          ? { securityCode: validation.securityCode, totalAmount: validation.facts.totalAmount }
          : null,
      origin: incoming.origin,
    };
    await documents.refuse(refusal, [...kept.files, signed.file]);
    const answer = { ecfType: validation.ecfType, documentId: null, repeated: false, sharedWith: null };
    return { ...answer, motive, reason, acknowledgement: signed.file.bytes, unkept: kept.unkept };
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
    return { stored, file: { ...stored, bytes }, at };
  }

  /** Bytes that are stored already are not stored again; others count against the quotas. */
  async function keepRefused(
    incoming: Incoming,
    holder: NumberHolder | null,
  ): Promise<{ path: string | null; files: readonly PendingDocument[]; unkept: Unkept | null }> {
    const { sha256, network, arrivedAt: receivedAt } = incoming;
    if (holder?.xml.sha256 === sha256) return { path: holder.xml.path, files: [], unkept: null };
    const present = holder === null ? null : await documents.keptConflict(holder.id, sha256);
    if (present !== null) return { path: present, files: [], unkept: null };
    const { signer } = incoming.validation;
    const unkept = await refusedQuota.take({ bytes: incoming.bytes.length, receivedAt, network, holder, signer });
    if (unkept !== null) return { path: null, files: [], unkept };
    const file = fileOf(incoming, true);
    return { path: file.path, files: [file], unkept };
  }

  return { accept, refuse, acknowledgeAgain };
}

/** The received bytes under their path in the archive. */
function fileOf(incoming: Incoming, refused: boolean): PendingDocument {
  const { sha256, bytes } = incoming;
  return { path: receivedDocumentPath(pathName(incoming, sha256, refused)), sha256, bytes };
}

/** The document is stored under the RNC of the taxpayer that answers: a stranger's RNC never becomes a folder. */
function pathName(incoming: Incoming, sha256: string, refused: boolean): StoredDocumentName {
  return { ...incoming.key, holderRnc: incoming.receiver.signer.rnc, at: incoming.arrivedAt, sha256, refused };
}

function estado0(incoming: Incoming, documentId: number): Omit<Acknowledged, 'acknowledgement'> {
  const { ecfType } = incoming.validation;
  return { motive: null, reason: null, ecfType, documentId, repeated: false, sharedWith: null, unkept: null };
}
