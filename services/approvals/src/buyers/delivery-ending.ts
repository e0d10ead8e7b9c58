import type { Health } from '@ecf/authority-client';
import { retryDelay, storableText } from '@ecf/domain';
import { nextLookUp, obeyedPause } from '../sending/retry-times.js';
import type { ClaimedDelivery, DeliveryStatus } from './delivery.js';
import type { Conclusion, DeliveryPorts } from './delivery-ports.js';

/** How an attempt ended, before it is recorded. */
export interface Ending {
  readonly conclusion: Conclusion;
  /** For the buyer's circuit breaker. */
  readonly health: Health;
  /** Milliseconds of the pause that the receiver asked for, as far as it is obeyed. */
  readonly pauseMs: number;
  /** A short word for metrics. */
  readonly word: string;
}

type EndingPorts = Pick<DeliveryPorts, 'clock' | 'random' | 'deliverySettings'>;

const LONGEST_ERROR = 1_000;

/** The directory lists no receiver: it is queried again after hours, up to the deadline. */
export function withoutReceiver(delivery: ClaimedDelivery, ports: EndingPorts): Ending {
  const dueAt = nextLookUp(delivery.tries, ports.clock(), delivery.deadlineAt, ports.random);
  const error = `The directory names no receiver of ${delivery.buyerRnc}.`;
  const conclusion = { status: 'no_receiver', dueAt, error, acknowledgement: null, needsCertificate: false } as const;
  return { conclusion, health: 'neutral', pauseMs: 0, word: 'no_receiver' };
}

/** A later certification run began: the receiver would take the document for that of the new run. */
export function superseded(delivery: ClaimedDelivery): Ending {
  // A document that was answered stays so.
  const status = delivery.status === 'unacknowledged' ? 'unacknowledged' : 'not_required';
  const error = 'A later certification run began before the buyer acknowledged the document.';
  const conclusion = { status, dueAt: null, error, acknowledgement: null, needsCertificate: false } as const;
  return { conclusion, health: 'neutral', pauseMs: 0, word: 'superseded' };
}

/** The next try comes after a pause. A try that would come after the deadline is the end: `failed`. */
export function later(
  delivery: ClaimedDelivery,
  ports: EndingPorts,
  detail: string,
  word: string,
  health: Health = 'neutral',
  { status = delivery.status, pauseMs = 0 }: { status?: DeliveryStatus; pauseMs?: number } = {},
): Ending {
  const pause = retryDelay(Math.max(delivery.tries, 1), ports.deliverySettings.firstRetryMs, ports.random);
  const now = ports.clock();
  const obeyedMs = obeyedPause(pauseMs, delivery.tries, now, delivery.deadlineAt);
  const next = new Date(now.getTime() + Math.max(pause, obeyedMs));
  const over = next > delivery.deadlineAt;
  const kept = status === 'no_receiver' ? 'pending' : status;
  const conclusion: Conclusion = {
    status: over ? 'failed' : kept,
    dueAt: over ? null : next,
    error: storableText(detail, LONGEST_ERROR),
    acknowledgement: null,
    needsCertificate: false,
  };
  return { conclusion, health, pauseMs: obeyedMs, word };
}
