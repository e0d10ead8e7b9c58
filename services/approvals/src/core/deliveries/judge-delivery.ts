import type { Answer, DeliveryAnswer } from '@ecf/authority-client';
import {
  confirmsReceipt,
  judgeAcknowledgement,
  type NewAcknowledgement,
  receivedAcknowledgementPath,
  sha256Hex,
} from '../acknowledgements/acknowledgement.js';
import type { ClaimedDelivery } from './delivery.js';
import { type Ending, later, wordsOf } from './delivery-ending.js';
import type { LaneSign } from './delivery-lanes.js';
import type { DeliveryPorts } from './delivery-ports.js';

/** Motive 4: RNC Comprador no corresponde. */
const NOT_SERVED = 4;

/** What a receiver's answer means for a delivery. */
export class JudgeDelivery {
  constructor(private readonly ports: DeliveryPorts) {}

  /** `moved`: whether the buyer is listed elsewhere by now. */
  async answer(
    delivery: ClaimedDelivery,
    answer: Answer<DeliveryAnswer>,
    moved: () => Promise<boolean>,
  ): Promise<Ending> {
    switch (answer.outcome) {
      case 'verdict':
        return this.#acknowledged(delivery, answer.verdict.acknowledgement, troubleOf(answer), moved);
      case 'unauthorized':
        return later(delivery, this.ports, 'the receiver refuses the token that it gave', 'unauthorized');
      case 'refused':
        return later(delivery, this.ports, answer.reason, answer.code, 'failing');
      case 'unknown':
        break;
    }
    const { cause, detail, retryAfterMs } = answer;
    // It answered, but with nothing that acknowledges: it may have the document or not.
    const answered = cause === 'not_a_verdict' || cause === 'too_large';
    const sign = answered ? 'alive' : 'failing';
    const status = answered ? 'unacknowledged' : delivery.status;
    return later(delivery, this.ports, detail, cause, sign, { status, pauseMs: retryAfterMs ?? 0 });
  }

  /** The bytes are committed with what is concluded from them. */
  async #acknowledged(
    delivery: ClaimedDelivery,
    bytes: Uint8Array,
    { sign, pauseMs }: { sign: LaneSign; pauseMs: number },
    moved: () => Promise<boolean>,
  ): Promise<Ending> {
    const now = this.ports.clock();
    const sha256 = sha256Hex(bytes);
    const path = receivedAcknowledgementPath(delivery, now, sha256);
    const judged = judgeAcknowledgement(bytes, delivery, now, this.ports.trust);
    const acknowledgement: NewAcknowledgement = {
      ...judged,
      key: delivery.key,
      buyerRnc: delivery.buyerRnc,
      receivedAt: now,
      xml: { path, sha256 },
      bytes,
    };
    if (judged.fault !== null) {
      const ending = later(delivery, this.ports, judged.fault, 'invalid_acknowledgement', sign, {
        status: 'unacknowledged',
        pauseMs,
      });
      return { ...ending, conclusion: { ...ending.conclusion, acknowledgement } };
    }
    if (judged.motive === NOT_SERVED) {
      const elsewhere = await this.#elsewhere(delivery, moved);
      if (elsewhere !== null) return { ...elsewhere, conclusion: { ...elsewhere.conclusion, acknowledgement } };
    }
    const status = confirmsReceipt(judged) ? 'delivered' : 'refused';
    const error = status === 'refused' ? `The buyer did not receive it: motive ${judged.motive}.` : null;
    const conclusion = { status, dueAt: null, error, acknowledgement, needsCertificate: false } as const;
    return { conclusion, sign: 'alive', pauseMs: 0, word: judged.motive === 3 ? 'duplicate' : status };
  }

  /**
   * Who says that it does not serve the buyer may have served it until it moved: that is a refusal only while the buyer is
   * listed there. Else it goes out again, to where the directory leads by then. Null where the refusal stands.
   */
  async #elsewhere(delivery: ClaimedDelivery, moved: () => Promise<boolean>): Promise<Ending | null> {
    try {
      if (!(await moved())) return null;
    } catch (error) {
      const words = `The receiver does not serve the buyer, and the directory cannot be asked: ${wordsOf(error)}`;
      return later(delivery, this.ports, words, 'directory', 'alive');
    }
    const words = 'The receiver does not serve the buyer, who is listed elsewhere by now.';
    return later(delivery, this.ports, words, 'moved', 'alive');
  }
}

/** What the status of an answer says about its receiver, whatever stands in it. */
function troubleOf({ raw, retryAfterMs = 0 }: Answer<DeliveryAnswer> & { outcome: 'verdict' }) {
  const troubled = raw.status === 429 || raw.status >= 500;
  return troubled ? ({ sign: 'failing', pauseMs: retryAfterMs } as const) : ({ sign: 'alive', pauseMs: 0 } as const);
}
