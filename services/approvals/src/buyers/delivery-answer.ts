import type { Answer, DeliveryAnswer, Health } from '@ecf/authority-client';
import { messageOf } from '../errors.js';
import {
  confirmsReceipt,
  type NewAcknowledgement,
  receivedAcknowledgementPath,
  sha256Hex,
  validateAcknowledgement,
} from './acknowledgement.js';
import type { ClaimedDelivery } from './delivery.js';
import { type Ending, later } from './delivery-ending.js';
import type { DeliveryPorts } from './delivery-ports.js';

/** Motive 4: RNC Comprador no corresponde. */
const NOT_SERVED = 4;

type AnswerPorts = Pick<DeliveryPorts, 'clock' | 'random' | 'deliverySettings' | 'trust'>;

/** How an attempt ends with this answer. `moved` queries whether the directory lists the buyer elsewhere by now. */
export async function endingOfAnswer(
  ports: AnswerPorts,
  delivery: ClaimedDelivery,
  answer: Answer<DeliveryAnswer>,
  moved: () => Promise<boolean>,
): Promise<Ending> {
  switch (answer.outcome) {
    case 'verdict':
      return acknowledged(ports, delivery, answer, moved);
    case 'unauthorized':
      return later(delivery, ports, 'the receiver refuses the token that it gave', 'unauthorized');
    case 'refused':
      return later(delivery, ports, answer.reason, answer.code, 'failing');
    case 'unknown':
      break;
  }
  const { cause, detail, retryAfterMs } = answer;
  // An answer that acknowledges nothing: the receiver may have the document or not.
  const answered = cause === 'not_a_verdict' || cause === 'too_large';
  const status = answered ? 'unacknowledged' : delivery.status;
  return later(delivery, ports, detail, cause, answered ? 'healthy' : 'failing', {
    status,
    pauseMs: retryAfterMs ?? 0,
  });
}

/** The bytes of the acknowledgement are committed with the ending. */
async function acknowledged(
  ports: AnswerPorts,
  delivery: ClaimedDelivery,
  answer: Answer<DeliveryAnswer> & { outcome: 'verdict' },
  moved: () => Promise<boolean>,
): Promise<Ending> {
  const now = ports.clock();
  const bytes = answer.verdict.acknowledgement;
  const sha256 = sha256Hex(bytes);
  const path = receivedAcknowledgementPath(delivery, now, sha256);
  const validated = validateAcknowledgement(bytes, delivery, now, ports.trust);
  const acknowledgement: NewAcknowledgement = {
    ...validated,
    key: delivery.key,
    buyerRnc: delivery.buyerRnc,
    receivedAt: now,
    xml: { path, sha256 },
    bytes,
  };
  const withAcknowledgement = (ending: Ending): Ending => ({
    ...ending,
    conclusion: { ...ending.conclusion, acknowledgement },
  });
  if (validated.fault !== null) {
    const { health, pauseMs } = healthOfStatus(answer);
    const options = { status: 'unacknowledged', pauseMs } as const;
    return withAcknowledgement(later(delivery, ports, validated.fault, 'invalid_acknowledgement', health, options));
  }
  if (validated.motive === NOT_SERVED) {
    const elsewhere = await endingIfMoved(ports, delivery, moved);
    if (elsewhere !== null) return withAcknowledgement(elsewhere);
  }
  const status = confirmsReceipt(validated) ? 'delivered' : 'refused';
  const error = status === 'refused' ? `The buyer did not receive it: motive ${validated.motive}.` : null;
  const conclusion = { status, dueAt: null, error, acknowledgement, needsCertificate: false } as const;
  return { conclusion, health: 'healthy', pauseMs: 0, word: validated.motive === 3 ? 'duplicate' : status };
}

/**
 * The sender of motive 4 may have served the buyer until it moved. So it refuses only while the directory lists the buyer
 * there; otherwise the document is sent again, to the new address. Null if the refusal stands.
 */
async function endingIfMoved(
  ports: AnswerPorts,
  delivery: ClaimedDelivery,
  moved: () => Promise<boolean>,
): Promise<Ending | null> {
  try {
    if (!(await moved())) return null;
  } catch (error) {
    const words = `The receiver does not serve the buyer, and the directory does not answer: ${messageOf(error)}`;
    return later(delivery, ports, words, 'directory', 'healthy');
  }
  const words = 'The receiver does not serve the buyer, whom the directory lists elsewhere by now.';
  return later(delivery, ports, words, 'moved', 'healthy');
}

/** Status 429 or 5xx says that the receiver has a fault, even with an acknowledgement in the body. */
function healthOfStatus({ raw, retryAfterMs = 0 }: Answer<DeliveryAnswer> & { outcome: 'verdict' }): {
  health: Health;
  pauseMs: number;
} {
  const failing = raw.status === 429 || raw.status >= 500;
  return failing ? { health: 'failing', pauseMs: retryAfterMs } : { health: 'healthy', pauseMs: 0 };
}
