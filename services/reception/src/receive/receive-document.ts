import { hash } from 'node:crypto';
import { ReceptionError } from '../errors.js';
import type { AnsweredDocuments } from './answered-documents.js';
import type { Buyers } from './buyers.js';
import type { DocumentStore, DocumentValidation } from './ports.js';
import type { NumberHolder } from './received-document.js';
import {
  type Acknowledged,
  type Arrival,
  type Incoming,
  isSameContent,
  type RecordDocument,
} from './record-document.js';

export type ReceiveDocument = (arrival: Arrival) => Promise<Acknowledged>;

export interface ReceiveParts {
  readonly documents: Pick<DocumentStore, 'holder'>;
  readonly validation: DocumentValidation;
  readonly buyers: Pick<Buyers, 'find'>;
  readonly answered: Pick<AnsweredDocuments, 'leftBefore'>;
  readonly record: RecordDocument;
  readonly clock: () => Date;
}

/** Another request may take the number between the look-up and the insert; the document is decided again then. */
const MAX_ROUNDS = 3;

/**
 * Receives an e-CF (Recepción de e-CF) and acknowledges it. Order of the checks: readable, structure (motive 1), signature
 * (2), duplicate (3), buyer not served (4). Document, acknowledgement, record and event are durable when it resolves.
 *
 * Throws ReceptionError where no acknowledgement is possible, and StoredBytesUsed where a quota of kept bytes is used up.
 * The document is not recorded then.
 */
export function createReceiveDocument({
  documents,
  validation: validator,
  buyers,
  answered,
  record,
  clock,
}: ReceiveParts): ReceiveDocument {
  const inFlight = new Map<string, { requestId: string; work: Promise<Acknowledged> }>();

  /** Overlapping requests of one sender with the same bytes are one document with one answer. */
  async function receive(arrival: Arrival): Promise<Acknowledged> {
    const sha256 = hash('sha256', arrival.bytes, 'hex');
    const key = `${arrival.env}:${arrival.quotaSender}:${sha256}`;
    const first = inFlight.get(key);
    if (first !== undefined)
      return { ...(await first.work), repeated: true, sharedWith: first.requestId, unkept: null };
    const work = validateAndDecide(arrival, sha256).finally(() => inFlight.delete(key));
    inFlight.set(key, { requestId: arrival.origin.requestId, work });
    return work;
  }

  async function validateAndDecide(arrival: Arrival, sha256: string): Promise<Acknowledged> {
    const validation = await validator.document(arrival.bytes, clock());
    const incoming: Incoming = {
      ...arrival,
      sha256,
      validation,
      key: { env: arrival.env, ...validation.parties },
      buyer: await buyers.find(validation.parties.buyerRnc),
    };
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const answer = await decide(incoming);
      if (answer !== null) return answer;
    }
    throw new ReceptionError(
      'overloaded',
      `Other requests changed the document ${incoming.key.encf} at each of ${MAX_ROUNDS} tries, so this one was not recorded. Send the same bytes again after Retry-After.`,
    );
  }

  /** Null where another request took the number meanwhile. */
  async function decide(incoming: Incoming): Promise<Acknowledged | null> {
    const { validation, key, buyer } = incoming;
    if (validation.motive !== null) return record.refuse(incoming, validation.motive, validation.particulars, null);
    const holder = await documents.holder(key);
    if (holder !== null) return repeat(incoming, holder);
    if (!buyer.served) return record.refuse(incoming, 4, `${key.buyerRnc} is not an active receiver here`, null);
    return record.accept(incoming, validation);
  }

  /**
   * Identical bytes get the first acknowledgement again until an answer with it has left completely. They always get it if
   * the document took the number later, because its sender got a refusal first.
   */
  async function repeat(incoming: Incoming, holder: NumberHolder): Promise<Acknowledged> {
    if (holder.xmlSha256 !== incoming.sha256) {
      const particulars = isSameContent(incoming, holder)
        ? 'this document was received before, written in another way'
        : 'another document was received under this eNCF';
      return record.refuse(incoming, 3, particulars, holder);
    }
    if (holder.promotedAt !== null || !answered.leftBefore(holder, incoming.arrivedAt))
      return record.acknowledgeAgain(incoming, holder);
    return record.refuse(incoming, 3, 'this document was received before', holder);
  }

  return receive;
}
