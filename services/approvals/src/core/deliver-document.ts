import {
  type Answer,
  type DeliveryAnswer,
  type DirectoryEntry,
  LoginError,
  type SeedSigner,
} from '@ecf/authority-client';
import { retryDelay, storableText } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit';
import {
  confirmsReceipt,
  judgeAcknowledgement,
  MAX_ACKNOWLEDGEMENT_BYTES,
  type NewAcknowledgement,
  receivedAcknowledgementPath,
  sha256Hex,
} from './acknowledgement.js';
import { type ClaimedDelivery, type Delivery, type DeliveryStatus, pauseWithoutReceiver } from './delivery.js';
import type { LaneSign } from './delivery-lanes.js';
import type { Conclusion, DeliveryPorts, HostedConclusion } from './delivery-ports.js';
import { Unwritable } from './errors.js';
import { admittingHost, type HostVisit, receivingHost } from './host-visit.js';
import { ReceiverLoginError } from './receiver-logins.js';
import type { Caller } from './receivers.js';

/** What an attempt means for its receiver. */
export interface Attempt {
  readonly delivery: Delivery;
  readonly sign: LaneSign;
  /** The receiver asked to be left alone for so long. */
  readonly pauseMs: number;
}

/** How an attempt ended, before it is written down. */
interface Ending {
  readonly conclusion: Conclusion;
  readonly sign: LaneSign;
  readonly pauseMs: number;
  /** For counting. */
  readonly word: string;
}

/** An answer came, or none did where one was to come. */
interface Reached {
  readonly answer: Answer<DeliveryAnswer>;
  readonly caller: Caller;
  readonly host: string | null;
  readonly door: string | null;
}

/** Its host has no place now. */
interface Deferral {
  readonly deferredAt: string;
}

/** A login that failed here. */
const REFUSED = { trouble: 'refused', pauseMs: 0 } as const;
const LONGEST_ERROR = 1_000;
/** Milliseconds between tries to write down what a receiver answered. */
const RECORDING_PAUSE_MS = { first: 250, longest: 4_000 };
/** So often it is tried once the process ends. */
const TRIES_AT_THE_END = 4;

/**
 * One attempt to deliver an e-CF: the receiver's address, its token, the very bytes that the authority accepted, and what
 * the answer says. Each step can be repeated after a crash: the same bytes go out again, and a receiver that has them says
 * so (motive 3), which counts as delivered.
 */
export class DeliverDocument {
  constructor(private readonly ports: DeliveryPorts) {}

  /** The attempt as it was written down; null where a host has no place for it now, and it waits for one. */
  async attempt(delivery: ClaimedDelivery, visit: Pick<HostVisit, 'enter' | 'tell'>): Promise<Attempt | null> {
    const began = this.ports.clock().getTime();
    const found: { host: string | null } = { host: null };
    const ending = await this.#try(delivery, visit, found);
    if ('deferredAt' in ending) {
      await this.ports.deliveries.defer(delivery, ending.deferredAt, this.ports.clock());
      return null;
    }
    const { after, conclusion, sign, pauseMs, word } = await this.#written(delivery, ending, found.host);
    await this.ports.checkpoint('recorded');
    if (conclusion.acknowledgement !== null) this.ports.deliveryObserver.acknowledged(conclusion.acknowledgement);
    this.ports.deliveryObserver.attempted(after, word, this.ports.clock().getTime() - began);
    if (after.status !== delivery.status) this.ports.deliveryObserver.changed(after, after.status);
    return { delivery: after, sign, pauseMs };
  }

  async #try(
    delivery: ClaimedDelivery,
    visit: Pick<HostVisit, 'enter' | 'tell'>,
    found: { host: string | null },
  ): Promise<Ending | Deferral> {
    // Whatever goes wrong before there is an answer costs a pause, and is over at the deadline.
    const reached = await this.#reach(delivery, visit, found).catch((error: unknown) => {
      this.ports.deliveryObserver.failed('beginning a delivery', error, delivery.key);
      return this.#later(delivery, wordsOf(error), 'failed');
    });
    if (!('answer' in reached)) return reached;
    const { answer, caller, host, door } = reached;
    if (answer.outcome === 'unknown') this.ports.receivers.doubt(caller, delivery.buyerRnc);
    await this.ports.checkpoint('answered');
    const ending = await this.#judge(delivery, answer);
    if (door !== null && answer.outcome !== 'unauthorized') visit.tell(door, 'alive');
    if (host !== null) visit.tell(host, ending.sign, ending.pauseMs);
    return ending;
  }

  /** Up to the answer. */
  async #reach(
    delivery: ClaimedDelivery,
    visit: Pick<HostVisit, 'enter' | 'tell'>,
    found: { host: string | null },
  ): Promise<Ending | Deferral | Reached> {
    const caller = await this.#caller(delivery);
    if (typeof caller === 'string') {
      const ending = this.#later(delivery, caller, 'no_certificate');
      return { ...ending, conclusion: { ...ending.conclusion, needsCertificate: true } };
    }
    let entry: DirectoryEntry | null;
    try {
      // It came while its buyer was believed to have no receiver, and waited for the first look-up of its own.
      const unasked = delivery.status === 'no_receiver' && delivery.tries === 1;
      const missSince = unasked ? delivery.createdAt : null;
      entry = await this.ports.receivers.find(caller, delivery.buyerRnc, 'receptionUrl', missSince);
    } catch (error) {
      return this.#later(delivery, wordsOf(error), error instanceof LoginError ? 'login' : 'directory');
    }
    const baseUrl = entry?.receptionUrl ?? null;
    if (entry === null || baseUrl === null) return this.#noReceiver(delivery);
    const host = receivingHost(entry);
    const door = admittingHost(entry);
    found.host = host;
    const deferredAt = visit.enter([...new Set([host, door])].filter((one) => one !== null));
    if (deferredAt !== null) return { deferredAt };
    let xml: Uint8Array;
    try {
      xml = await this.ports.archive.get(delivery.xml.path, delivery.xml.sha256);
    } catch (error) {
      return this.#later(delivery, `The stored document cannot be read: ${wordsOf(error)}`, 'archive');
    }
    const { issuerRnc, encf } = delivery.key;
    try {
      const answer = await this.ports.receivers.admitted(caller, entry, (token) =>
        this.ports.buyers.deliverDocument({ baseUrl, token, issuerRnc, encf, xml }),
      );
      return { answer, caller, host, door };
    } catch (error) {
      const { trouble, pauseMs } = error instanceof ReceiverLoginError ? error : REFUSED;
      // A refused login says nothing about what others find there.
      const sign = trouble === 'refused' ? 'unknown' : 'failing';
      const ending = this.#later(delivery, wordsOf(error), 'token', sign, { pauseMs });
      if (door !== null) visit.tell(door, ending.sign, ending.pauseMs);
      return ending;
    }
  }

  async #judge(delivery: ClaimedDelivery, answer: Answer<DeliveryAnswer>): Promise<Ending> {
    switch (answer.outcome) {
      case 'verdict':
        return this.#acknowledged(delivery, answer.verdict.acknowledgement, troubleOf(answer));
      case 'unauthorized':
        return this.#later(delivery, 'the receiver refuses the token that it gave', 'unauthorized');
      case 'refused':
        return this.#later(delivery, answer.reason, answer.code, 'failing');
      case 'unknown':
        break;
    }
    const { cause, detail, retryAfterMs } = answer;
    // It answered, but with nothing that acknowledges: it may have the document or not.
    const answered = cause === 'not_a_verdict' || cause === 'too_large';
    const sign = answered ? 'alive' : 'failing';
    const status = answered ? 'unacknowledged' : delivery.status;
    return this.#later(delivery, detail, cause, sign, { status, pauseMs: retryAfterMs ?? 0 });
  }

  /** Kept byte for byte with what is concluded from it: in the XML store, and while that refuses it, in the row. */
  async #acknowledged(
    delivery: ClaimedDelivery,
    bytes: Uint8Array,
    { sign, pauseMs }: { sign: LaneSign; pauseMs: number },
  ): Promise<Ending> {
    const now = this.ports.clock();
    const sha256 = sha256Hex(bytes);
    const path = receivedAcknowledgementPath(delivery, now, sha256);
    let held: Uint8Array | null = null;
    try {
      await this.ports.archive.put(path, bytes);
    } catch (error) {
      const words = `The buyer's answer cannot be stored: ${wordsOf(error)}`;
      if (bytes.length > MAX_ACKNOWLEDGEMENT_BYTES) return this.#later(delivery, words, 'archive', sign, { pauseMs });
      this.ports.deliveryObserver.failed("storing a buyer's answer, which waits in its row,", error, delivery.key);
      held = bytes;
    }
    await this.ports.checkpoint('stored');
    const judged = judgeAcknowledgement(bytes, delivery, now, this.ports.trust);
    const acknowledgement: NewAcknowledgement = {
      ...judged,
      key: delivery.key,
      buyerRnc: delivery.buyerRnc,
      receivedAt: now,
      xml: { path, sha256 },
      held,
    };
    if (judged.fault !== null) {
      const ending = this.#later(delivery, judged.fault, 'invalid_acknowledgement', sign, {
        status: 'unacknowledged',
        pauseMs,
      });
      return { ...ending, conclusion: { ...ending.conclusion, acknowledgement } };
    }
    const status = confirmsReceipt(judged) ? 'delivered' : 'refused';
    const error = status === 'refused' ? `The buyer did not receive it: motive ${judged.motive}.` : null;
    const conclusion = { status, dueAt: null, error, acknowledgement, needsCertificate: false } as const;
    return { conclusion, sign: 'alive', pauseMs: 0, word: judged.motive === 3 ? 'duplicate' : status };
  }

  /** The ending as it stands in the row by now. What the database can never take is left out, and it is tried again later. */
  async #written(
    delivery: ClaimedDelivery,
    ending: Ending,
    host: string | null,
  ): Promise<Ending & { readonly after: Delivery }> {
    try {
      return { ...ending, after: await this.#record(delivery, { ...ending.conclusion, host }) };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      this.ports.deliveryObserver.failed('writing down how a delivery ended', error, delivery.key);
      const { sign, pauseMs, conclusion } = ending;
      const status = conclusion.acknowledgement === null ? delivery.status : 'unacknowledged';
      const words = `What came of it cannot be written down: ${error.message}`;
      const later = this.#later(delivery, words, 'unwritable', sign, { status, pauseMs });
      return { ...later, after: await this.ports.deliveries.conclude(delivery, { ...later.conclusion, host: null }) };
    }
  }

  /** What a buyer answered is written down however long the database is away: to lose it means to send again. */
  async #record(delivery: ClaimedDelivery, conclusion: HostedConclusion): Promise<Delivery> {
    const { first, longest } = RECORDING_PAUSE_MS;
    let left = TRIES_AT_THE_END;
    for (let pause = first; ; pause = Math.min(pause * 2, longest)) {
      try {
        return await this.ports.deliveries.conclude(delivery, conclusion);
      } catch (error) {
        if (this.ports.ending()) left -= 1;
        if (conclusion.acknowledgement === null || error instanceof Unwritable || left <= 0) throw error;
        this.ports.deliveryObserver.failed("writing down a buyer's answer, which is tried again,", error, delivery.key);
        await this.ports.wait(pause);
      }
    }
  }

  #noReceiver(delivery: ClaimedDelivery): Ending {
    const next = new Date(this.ports.clock().getTime() + pauseWithoutReceiver(delivery.tries, this.ports.random));
    const dueAt = next > delivery.deadlineAt ? null : next;
    const error = `The directory names no receiver of ${delivery.buyerRnc}.`;
    const conclusion = { status: 'no_receiver', dueAt, error, acknowledgement: null, needsCertificate: false } as const;
    return { conclusion, sign: 'unknown', pauseMs: 0, word: 'no_receiver' };
  }

  /** Again after a pause, up to the deadline: a receiver that asks for one beyond it is tried before. */
  #later(
    delivery: ClaimedDelivery,
    detail: string,
    word: string,
    sign: LaneSign = 'unknown',
    { status = delivery.status, pauseMs = 0 }: { status?: DeliveryStatus; pauseMs?: number } = {},
  ): Ending {
    const pause = retryDelay(Math.max(delivery.tries, 1), this.ports.deliverySettings.firstRetryMs, this.ports.random);
    const now = this.ports.clock().getTime();
    const obeyedMs = now + pauseMs > delivery.deadlineAt.getTime() ? 0 : pauseMs;
    const next = new Date(now + Math.max(pause, obeyedMs));
    const over = next > delivery.deadlineAt;
    const kept = status === 'no_receiver' ? 'pending' : status;
    const conclusion: Conclusion = {
      status: over ? 'failed' : kept,
      dueAt: over ? null : next,
      error: storableText(detail, LONGEST_ERROR),
      acknowledgement: null,
      needsCertificate: false,
    };
    return { conclusion, sign, pauseMs: obeyedMs, word };
  }

  /**
   * The issuer as last heard of, with its stored certificate, else with the one that came along with the document: what was
   * accepted is still delivered for a taxpayer that was deactivated since.
   */
  async #caller({ key, accountId }: Delivery): Promise<Caller | string> {
    const issuer = (await this.ports.taxpayers.taxpayer(key.issuerRnc)) ?? (await this.#asked(key.issuerRnc));
    if (issuer === null || issuer.account_id !== accountId) return `${key.issuerRnc} is not known here (yet)`;
    const caller = { env: key.env, account: accountId };
    try {
      return { ...caller, certificate: this.ports.certificates.open(issuer, this.ports.clock()) };
    } catch (error) {
      const signer = await this.#sentAlong(key);
      if (typeof signer !== 'string') return { ...caller, certificate: signer };
      return `${wordsOf(error)} ${signer} Upload one in the administration; the delivery then goes on by itself.`;
    }
  }

  /** Emission signs seeds with the certificate that came along with a document; says why not where it cannot. */
  async #sentAlong({ env, issuerRnc, encf }: Delivery['key']): Promise<SeedSigner | string> {
    const document = { env, issuer_rnc: issuerRnc, encf };
    try {
      const { fingerprint } = await this.ports.signing.signSeed({ ...document, seed: null });
      return {
        fingerprint,
        signSeed: async (seed) => {
          const { signed_seed: signed } = await this.ports.signing.signSeed({ ...document, seed });
          if (signed === null) throw new Error('emission signed nothing');
          return signed;
        },
      };
    } catch (error) {
      return error instanceof ApiError && error.code === 'certificate_missing'
        ? 'None is kept for the document either.'
        : wordsOf(error);
    }
  }

  async #asked(rnc: string) {
    const taxpayer = (await this.ports.source?.taxpayer(rnc).catch(() => null)) ?? null;
    if (taxpayer !== null) await this.ports.taxpayers.replaceTaxpayer(taxpayer);
    return taxpayer;
  }
}

/** What the status of an answer says about its receiver, whatever stands in it. */
function troubleOf({ raw, retryAfterMs = 0 }: Answer<DeliveryAnswer> & { outcome: 'verdict' }) {
  const troubled = raw.status === 429 || raw.status >= 500;
  return troubled ? ({ sign: 'failing', pauseMs: retryAfterMs } as const) : ({ sign: 'alive', pauseMs: 0 } as const);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
