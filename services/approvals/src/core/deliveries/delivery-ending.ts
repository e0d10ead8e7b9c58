import { retryDelay, storableText } from '@ecf/domain';
import { keptPause, nextLookForReceiver } from '../receivers/receiver-pauses.js';
import type { ClaimedDelivery, DeliveryStatus } from './delivery.js';
import type { LaneSign } from './delivery-lanes.js';
import type { Conclusion, DeliveryPorts } from './delivery-ports.js';

/** How an attempt ended, before it is written down. */
export interface Ending {
  readonly conclusion: Conclusion;
  /** What it says about its receiver. */
  readonly sign: LaneSign;
  /** The receiver asked to be left alone for so long. */
  readonly pauseMs: number;
  /** For counting. */
  readonly word: string;
}

type EndingPorts = Pick<DeliveryPorts, 'clock' | 'random' | 'deliverySettings'>;

const LONGEST_ERROR = 1_000;

/** The directory names no receiver: looked up again after hours, up to the deadline. */
export function withoutReceiver(delivery: ClaimedDelivery, ports: EndingPorts): Ending {
  const dueAt = nextLookForReceiver(delivery.tries, ports.clock(), delivery.deadlineAt, ports.random);
  const error = `The directory names no receiver of ${delivery.buyerRnc}.`;
  const conclusion = { status: 'no_receiver', dueAt, error, acknowledgement: null, needsCertificate: false } as const;
  return { conclusion, sign: 'unknown', pauseMs: 0, word: 'no_receiver' };
}

/**
 * Again after a pause, up to the deadline: a receiver that asks for one beyond it is tried before, and whatever it asks for,
 * the first retry comes within a minute.
 */
export function later(
  delivery: ClaimedDelivery,
  ports: EndingPorts,
  detail: string,
  word: string,
  sign: LaneSign = 'unknown',
  { status = delivery.status, pauseMs = 0 }: { status?: DeliveryStatus; pauseMs?: number } = {},
): Ending {
  const pause = retryDelay(Math.max(delivery.tries, 1), ports.deliverySettings.firstRetryMs, ports.random);
  const now = ports.clock();
  const obeyedMs = keptPause(pauseMs, delivery.tries, now, delivery.deadlineAt);
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
  return { conclusion, sign, pauseMs: obeyedMs, word };
}

/** What an error says. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
