import { createHash } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import { type DailyReceivedBytes, type Gate, signerFacts } from '@ecf/public-door';
import type { PendingDocument } from '@ecf/service-kit/xml-store';
import { signAcknowledgement } from '../acknowledgements/acknowledgement.js';
import { type Motive, rejectionReason } from '../acknowledgements/motives.js';
import type { Ports } from '../ports.js';
import type { Receiver, Receivers } from '../receivers.js';
import type { Answers } from './answers.js';
import type { Judgement, SoundDocument } from './judge-document.js';
import type {
  DocumentKey,
  NewReceivedDocument,
  NewRefusedDocument,
  NumberHolder,
  Origin,
} from './received-document.js';
import type { RefusedBytesRoom, Unkept } from './refused-bytes.js';
import { acknowledgementPath, receivedDocumentPath, type StoredDocumentName } from './storage-paths.js';

/** A document as it came in. */
export interface Arrival {
  readonly bytes: Uint8Array;
  readonly env: Environment;
  /** When the request reached us, by the clock and among the moments of {@link Answers}. */
  readonly arrivedAt: Date;
  readonly moment: number;
  readonly origin: Origin;
  /** Network of the sender: an IPv4 address or an IPv6 /48, what limits count by. */
  readonly network: string;
}

/** A signed acknowledgement, stored and ready to leave. */
export interface Acknowledged {
  readonly acknowledgement: Uint8Array;
  /** Null = Estado 0. */
  readonly motive: Motive | null;
  /** The reason in words, fit for a header; null for Estado 0. */
  readonly reason: string | null;
  readonly ecfType: string | null;
  /** The received document whose acknowledgement this is; null for Estado 1. */
  readonly documentId: number | null;
  /** True where this is the first acknowledgement once more. */
  readonly repeated: boolean;
  /** Request id of the call whose acknowledgement this one shares, as equal documents that overlap do; null = its own. */
  readonly sharedWith: string | null;
  /** Why the bytes of a refused document were not kept; null where they were. */
  readonly unkept: Unkept | null;
}

/** A number that another request takes meanwhile is looked at again; it cannot be taken twice. */
const ROUNDS = 3;

/**
 * Receives an e-CF (Recepción de e-CF) and acknowledges it. Order: readable, structure (motive 1), signature (2),
 * duplicate (3), buyer not served (4). Document, acknowledgement, record and event are durable when it resolves.
 *
 * Throws ReceptionError where no acknowledgement can be given, ApiError where too much waits to be recorded, or was taken of the sender
 * on this day; nothing is recorded then.
 */
export class ReceiveDocument {
  readonly #underWay = new Map<string, { requestId: string; work: Promise<Acknowledged> }>();

  constructor(
    private readonly ports: Pick<Ports, 'documents' | 'archive' | 'judges' | 'clock'>,
    private readonly receivers: Receivers,
    private readonly answers: Answers,
    private readonly room: {
      readonly received: Pick<DailyReceivedBytes, 'take' | 'giveBack'>;
      readonly refused: Pick<RefusedBytesRoom, 'take'>;
    },
    private readonly gate: Gate,
  ) {}

  /**
   * Equal documents of one sender that overlap are one document with one answer, so they are worked on once. Those of another sender
   * wait their own turn, and are told what the first was.
   */
  async receive(arrival: Arrival): Promise<Acknowledged> {
    const sha256 = sha256Of(arrival.bytes);
    const same = `${arrival.env}:${arrival.network}:${sha256}`;
    const present = this.#underWay.get(same);
    // Nothing but the first was recorded, so nothing but the first lacked room.
    if (present !== undefined)
      return { ...(await present.work), repeated: true, sharedWith: present.requestId, unkept: null };
    const work = this.#receive(arrival, sha256).finally(() => this.#underWay.delete(same));
    this.#underWay.set(same, { requestId: arrival.origin.requestId, work });
    return work;
  }

  async #receive(arrival: Arrival, sha256: string): Promise<Acknowledged> {
    const judgement = await this.ports.judges.judge(arrival.bytes, this.ports.clock(), arrival.network);
    const incoming: Incoming = {
      ...arrival,
      sha256,
      judgement,
      key: { env: arrival.env, ...judgement.parties },
      receiver: await this.receivers.find(judgement.parties.buyerRnc, arrival.network),
    };
    const record = (left: boolean | null) =>
      this.gate.pass(arrival.network, arrival.bytes.length, () => this.#record(incoming, judgement, left));
    const outcome = await record(null);
    if (!('sameAs' in outcome)) return outcome;
    // What became of the first answer may take seconds to tell; nobody waits behind that.
    const settled = await record(await this.answers.leftBefore(outcome.sameAs, incoming));
    if ('sameAs' in settled) throw new Error('whether the first answer left was told and yet is not known');
    return settled;
  }

  /** @param left whether the first answer to the same bytes left before; null where that is still to be found out */
  async #record(incoming: Incoming, judgement: Judgement, left: boolean | null): Promise<Acknowledged | Repeated> {
    if (judgement.motive !== null) {
      return this.#refuse(incoming, judgement.motive, judgement.particulars, null);
    }
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await this.#decide(incoming, judgement, left);
      if (answer !== null) return answer;
    }
    throw new Error('the number is taken and yet not to be found');
  }

  /** Null if the number was taken between the look-up and the insert. */
  async #decide(
    incoming: Incoming,
    judgement: SoundDocument,
    left: boolean | null,
  ): Promise<Acknowledged | Repeated | null> {
    const holder = await this.ports.documents.holder(incoming.key);
    if (holder !== null) return this.#repeat(incoming, holder, left);
    if (!incoming.receiver.served) {
      return this.#refuse(incoming, 4, `${incoming.key.buyerRnc} is not an active receiver here`, null);
    }
    return this.#accept(incoming, judgement);
  }

  async #repeat(incoming: Incoming, holder: NumberHolder, left: boolean | null): Promise<Acknowledged | Repeated> {
    const identical = holder.xml.sha256 === incoming.sha256;
    if (identical && left === null) return { sameAs: holder };
    if (identical && left === false) {
      const { path, sha256 } = holder.acknowledgement;
      const acknowledgement = await this.ports.archive.get(path, sha256);
      await this.answers.giveAgain(holder.id);
      return { ...answer(incoming, null, null), acknowledgement, documentId: holder.id, repeated: true };
    }
    const particulars = identical
      ? 'this document was received before'
      : 'another document was received under this eNCF';
    return this.#refuse(incoming, 3, particulars, holder);
  }

  /** Null if another document took the number meanwhile. */
  async #accept(incoming: Incoming, judgement: SoundDocument): Promise<Acknowledged | null> {
    const { bytes, arrivedAt: receivedAt, network } = incoming;
    const sent = { bytes: bytes.length, receivedAt, network };
    await this.room.received.take(sent);
    let accepted: Acknowledged | null = null;
    try {
      accepted = await this.#add(incoming, judgement);
    } finally {
      if (accepted === null) this.room.received.giveBack(sent);
    }
    return accepted;
  }

  async #add(incoming: Incoming, judgement: SoundDocument): Promise<Acknowledged | null> {
    const signed = await this.#acknowledge(incoming, null);
    const xml = fileOf(incoming, false);
    const document: NewReceivedDocument = {
      key: incoming.key,
      accountId: incoming.receiver.signer.account_id,
      facts: judgement.facts,
      receivedAt: incoming.arrivedAt,
      acknowledgedAt: signed.at,
      bytes: incoming.bytes.length,
      xml: { path: xml.path, sha256: xml.sha256 },
      acknowledgement: signed.stored,
      signer: signerFacts(judgement.certificate),
      canonical: judgement.canonical,
      observations: judgement.observations,
      origin: incoming.origin,
    };
    const documentId = await this.ports.documents.add(document, [xml, signed.file]);
    if (documentId === null) return null;
    return { ...answer(incoming, null, null), acknowledgement: signed.bytes, documentId };
  }

  async #refuse(
    incoming: Incoming,
    motive: Motive,
    particulars: string,
    holder: NumberHolder | null,
  ): Promise<Acknowledged> {
    const { judgement } = incoming;
    const reason = rejectionReason(motive, particulars);
    const [kept, signed] = await Promise.all([
      this.#keepRefused(incoming, holder),
      this.#acknowledge(incoming, motive),
    ]);
    const refusal: NewRefusedDocument = {
      key: incoming.key,
      motive,
      reason,
      faults: judgement.motive === null ? [] : judgement.faults,
      receivedAt: incoming.arrivedAt,
      bytes: incoming.bytes.length,
      sha256: incoming.sha256,
      xmlPath: kept.path,
      acknowledgement: signed.stored,
      acknowledgedAt: signed.at,
      signer: judgement.certificate === null ? null : signerFacts(judgement.certificate),
      holderId: holder?.id ?? null,
      competes: holder !== null && holder.xml.sha256 !== incoming.sha256,
      origin: incoming.origin,
    };
    await this.ports.documents.refuse(refusal, [...kept.files, signed.file]);
    return { ...answer(incoming, motive, reason), acknowledgement: signed.bytes, unkept: kept.unkept };
  }

  async #acknowledge(incoming: Incoming, motive: Motive | null) {
    const at = this.ports.clock();
    const bytes = await signAcknowledgement({ ...incoming.key, motive, at }, incoming.receiver.certificate);
    const sha256 = sha256Of(bytes);
    const stored = { path: acknowledgementPath(pathName(incoming, sha256, motive !== null)), sha256 };
    return { bytes, stored, file: { ...stored, bytes }, at };
  }

  /** Bytes that are kept already are not kept twice; others are kept if there is room for them. */
  async #keepRefused(
    incoming: Incoming,
    holder: NumberHolder | null,
  ): Promise<{ path: string | null; files: readonly PendingDocument[]; unkept: Unkept | null }> {
    const { sha256, network, arrivedAt: receivedAt } = incoming;
    if (holder?.xml.sha256 === sha256) return { path: holder.xml.path, files: [], unkept: null };
    const present = holder === null ? null : await this.ports.documents.keptConflict(holder.id, sha256);
    if (present !== null) return { path: present, files: [], unkept: null };
    const signer = incoming.judgement.certificate;
    const unkept = await this.room.refused.take({ bytes: incoming.bytes.length, receivedAt, network, holder, signer });
    if (unkept !== null) return { path: null, files: [], unkept };
    const file = fileOf(incoming, true);
    return { path: file.path, files: [file], unkept };
  }
}

/** The same bytes as those of a received document. */
interface Repeated {
  readonly sameAs: NumberHolder;
}

interface Incoming extends Arrival {
  readonly sha256: string;
  readonly judgement: Judgement;
  readonly key: DocumentKey;
  readonly receiver: Receiver;
}

/** The received bytes under their path in the archive. */
function fileOf(incoming: Incoming, refused: boolean): PendingDocument {
  const { sha256, bytes } = incoming;
  return { path: receivedDocumentPath(pathName(incoming, sha256, refused)), sha256, bytes };
}

/** Documents are kept in the name of who answers, so a stranger's RNC never becomes a folder. */
function pathName(incoming: Incoming, sha256: string, refused: boolean): StoredDocumentName {
  return { ...incoming.key, holderRnc: incoming.receiver.signer.rnc, at: incoming.arrivedAt, sha256, refused };
}

function answer(
  incoming: Incoming,
  motive: Motive | null,
  reason: string | null,
): Omit<Acknowledged, 'acknowledgement'> {
  const { ecfType } = incoming.judgement;
  return { motive, reason, ecfType, documentId: null, repeated: false, sharedWith: null, unkept: null };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
