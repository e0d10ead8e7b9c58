import { hash } from 'node:crypto';
import type { DocumentReader } from '@ecf/archive';
import type { Answer, CircuitBreakers, DeliveryAnswer, DirectoryEntry, ReceiverClient } from '@ecf/authority-client';
import { LoginError } from '@ecf/authority-client/login';
import type { TrustCheck } from '@ecf/public-ingress';
import { messageOf } from '../errors.js';
import { endingWith, later, type RetryRules, recordEnding, withoutReceiver } from '../sending/endings.js';
import { type Caller, EndpointLoginError } from '../sending/endpoint-logins.js';
import { type Endpoints, receivingHost } from '../sending/endpoints.js';
import type { Claimed, EcfKey, Ending, Send } from '../sending/outgoing.js';
import type { OutgoingStore } from '../sending/ports.js';
import {
  confirmsReceipt,
  type NewAcknowledgement,
  receivedAcknowledgementPath,
  validateAcknowledgement,
} from './acknowledgement.js';
import type { DeliveryStatus } from './delivery.js';
import type { DeliveryCaller } from './delivery-caller.js';
import type { DeliveryEnding, DeliveryReport, DeliveryStore } from './ports.js';

export interface DeliverParts {
  readonly store: Pick<DeliveryStore, 'conclude'>;
  readonly defer: OutgoingStore['defer'];
  /** The present certification run of a taxpayer. */
  readonly presentRun: (env: EcfKey['env'], rnc: string) => Promise<number>;
  readonly callerOf: DeliveryCaller;
  readonly endpoints: Endpoints;
  /** The circuit breakers of the receiver client, one for each host. */
  readonly hostCircuits: Pick<CircuitBreakers, 'waitMs'>;
  /** Reads documents that emission issued. */
  readonly issuedXml: DocumentReader;
  readonly client: Pick<ReceiverClient, 'deliverDocument'>;
  readonly trust: TrustCheck;
  readonly rules: RetryRules;
  readonly report: DeliveryReport;
  readonly stopping: AbortSignal;
  /** Called between steps; tests stop the process there. */
  readonly checkpoint: (step: 'answered' | 'recorded') => Promise<void> | void;
}

/** The receiver was called, or no call may be made now, or the attempt ended before. `host` receives for the buyer. */
type Step = { readonly host: string | null } & (
  | { readonly answer: Answer<DeliveryAnswer>; readonly caller: Caller; readonly entry: DirectoryEntry }
  | { readonly circuitOpenMs: number }
  | { readonly ending: Ending }
);

/** Motive 4: RNC Comprador no corresponde. */
const NOT_SERVED = 4;

/**
 * Delivers an e-CF: looks up the receiver's address, gets its token, sends the accepted bytes and reads the answer. Each
 * step can be repeated after a crash. The same bytes are sent again, and a receiver that has them answers motive 3, which
 * counts as delivered.
 */
export function createDeliver(parts: DeliverParts): Send {
  const { endpoints, rules, report } = parts;
  const statusOf = ({ status }: Claimed) => (status === 'no_receiver' ? 'pending' : status) as DeliveryStatus;
  const laterOf = (delivery: Claimed, detail: string, outcome: string, more: Partial<Ending> = {}) =>
    later(delivery, rules, detail, { status: statusOf(delivery), outcome, ...more });

  /** Up to the receiver's answer. */
  async function reach(delivery: Claimed): Promise<Step> {
    const { env, issuerRnc, run = 1 } = delivery.key;
    if (env !== 'eCF' && run < (await parts.presentRun(env, issuerRnc)))
      return { host: null, ending: superseded(delivery) };
    const caller = await parts.callerOf(delivery);
    if (typeof caller === 'string')
      return { host: null, ending: laterOf(delivery, caller, 'no_certificate', { needsCertificate: true }) };
    let entry: DirectoryEntry | null;
    try {
      // The delivery was added while its buyer had no receiver, and waited for its own first look-up.
      const waited = delivery.status === 'no_receiver' && delivery.tries === 1;
      entry = await endpoints.find(caller, delivery.buyerRnc, 'receptionUrl', waited ? delivery.createdAt : null);
    } catch (error) {
      const outcome = error instanceof LoginError ? 'login' : 'directory';
      return { host: null, ending: laterOf(delivery, messageOf(error), outcome) };
    }
    if (entry === null || entry.receptionUrl === null) {
      const error = `The directory names no receiver of ${delivery.buyerRnc}.`;
      return { host: null, ending: withoutReceiver(delivery, rules, error) };
    }
    return call(delivery, caller, entry, entry.receptionUrl);
  }

  async function call(delivery: Claimed, caller: Caller, entry: DirectoryEntry, baseUrl: string): Promise<Step> {
    const host = receivingHost(entry);
    // Before the document is read: many deliveries may wait for one host.
    const waitMs = host === null ? 0 : parts.hostCircuits.waitMs(host);
    if (waitMs > 0) return { host, circuitOpenMs: waitMs };
    let xml: Uint8Array;
    try {
      xml = await parts.issuedXml.get(delivery.xml.path, delivery.xml.sha256);
    } catch (error) {
      const words = `The stored document cannot be read: ${messageOf(error)}`;
      return { host, ending: laterOf(delivery, words, 'archive') };
    }
    const { issuerRnc, encf } = delivery.key;
    try {
      const answer = await endpoints.call(caller, entry, (token) =>
        parts.client.deliverDocument({ baseUrl, token, issuerRnc, encf, xml }),
      );
      if (answer.outcome === 'unknown' && answer.cause === 'circuit_open')
        return { host, circuitOpenMs: answer.retryAfterMs ?? 0 };
      return { host, answer, caller, entry };
    } catch (error) {
      if (!(error instanceof EndpointLoginError)) return { host, ending: laterOf(delivery, messageOf(error), 'token') };
      const { message, trouble, pauseMs } = error;
      if (trouble === 'circuit_open') return { host, circuitOpenMs: pauseMs };
      if (trouble !== 'refused')
        return { host, ending: laterOf(delivery, message, 'token', { health: 'failing', pauseMs }) };
      // It may concern this issuer alone, so the pause is that of the document and not of the buyer.
      return { host, ending: { ...laterOf(delivery, message, 'token', { pauseMs }), pauseMs: 0 } };
    }
  }

  /** How an attempt ends with this answer. `moved`: whether the directory lists the buyer elsewhere by now. */
  async function endingOfAnswer(
    delivery: Claimed,
    answer: Answer<DeliveryAnswer>,
    moved: () => Promise<boolean>,
  ): Promise<Ending & Pick<DeliveryEnding, 'acknowledgement'>> {
    const without = (ending: Ending) => ({ ...ending, acknowledgement: null });
    switch (answer.outcome) {
      case 'verdict':
        return acknowledged(delivery, answer, moved);
      case 'unauthorized':
        return without(laterOf(delivery, 'the receiver refuses the token that it gave', 'unauthorized'));
      case 'refused':
        return without(laterOf(delivery, answer.reason, answer.code, { health: 'failing' }));
      case 'unknown': {
        const { cause, detail, retryAfterMs: pauseMs = 0 } = answer;
        // The answer is not an acknowledgement: the receiver may have the document or not.
        if (cause === 'not_a_verdict' || cause === 'too_large')
          return without(laterOf(delivery, detail, cause, { status: 'unacknowledged', health: 'healthy', pauseMs }));
        return without(laterOf(delivery, detail, cause, { health: 'failing', pauseMs }));
      }
    }
  }

  async function acknowledged(
    delivery: Claimed,
    answer: Answer<DeliveryAnswer> & { outcome: 'verdict' },
    moved: () => Promise<boolean>,
  ) {
    const now = rules.clock();
    const bytes = answer.verdict.acknowledgement;
    const sha256 = hash('sha256', bytes, 'hex');
    const validated = validateAcknowledgement(bytes, delivery, now, parts.trust);
    const acknowledgement: NewAcknowledgement = {
      ...validated,
      key: delivery.key,
      buyerRnc: delivery.buyerRnc,
      receivedAt: now,
      xml: { path: receivedAcknowledgementPath(delivery, now, sha256), sha256 },
      bytes,
    };
    if (validated.fault !== null) {
      // Status 429 or 5xx says that the receiver has a fault, even with an acknowledgement in the body.
      const failing = answer.raw.status === 429 || answer.raw.status >= 500;
      const health = failing ? 'failing' : 'healthy';
      const pauseMs = failing ? (answer.retryAfterMs ?? 0) : 0;
      const more = { status: 'unacknowledged', health, pauseMs } as const;
      return { ...laterOf(delivery, validated.fault, 'invalid_acknowledgement', more), acknowledgement };
    }
    if (validated.motive === NOT_SERVED) {
      const elsewhere = await endingIfMoved(delivery, moved);
      if (elsewhere !== null) return { ...elsewhere, acknowledgement };
    }
    const status = confirmsReceipt(validated) ? 'delivered' : 'refused';
    const error = status === 'refused' ? `The buyer did not receive it: motive ${validated.motive}.` : null;
    const outcome = validated.motive === 3 ? 'duplicate' : status;
    return { ...endingWith({ status, outcome, error, health: 'healthy' }), acknowledgement };
  }

  /**
   * The receiver that answers motive 4 may have served the buyer until it moved. So motive 4 is a refusal only while the
   * directory lists the buyer there; otherwise the document is sent again, to the new address. Null if the refusal counts.
   */
  async function endingIfMoved(delivery: Claimed, moved: () => Promise<boolean>): Promise<Ending | null> {
    try {
      if (!(await moved())) return null;
    } catch (error) {
      const words = `The receiver does not serve the buyer, and the directory does not answer: ${messageOf(error)}`;
      return laterOf(delivery, words, 'directory', { health: 'healthy' });
    }
    const words = 'The receiver does not serve the buyer, whom the directory lists elsewhere by now.';
    return laterOf(delivery, words, 'moved', { health: 'healthy' });
  }

  return async (delivery) => {
    const began = rules.clock().getTime();
    const milliseconds = () => rules.clock().getTime() - began;
    // After an error before any answer, the delivery is tried again after a pause, up to the deadline.
    const step = await reach(delivery).catch((error: unknown): Step => {
      report.failed('beginning a delivery', error, delivery.key);
      return { host: null, ending: laterOf(delivery, messageOf(error), 'failed') };
    });
    if ('circuitOpenMs' in step) {
      await parts.defer(delivery, step.host, new Date(rules.clock().getTime() + step.circuitOpenMs));
      report.attempted(delivery, 'circuit_open', milliseconds());
      return { health: 'neutral', pauseMs: 0 };
    }
    let ended: Ending & Pick<DeliveryEnding, 'acknowledgement'>;
    if ('ending' in step) ended = { ...step.ending, acknowledgement: null };
    else {
      const { answer, caller, entry } = step;
      if (answer.outcome === 'unknown') endpoints.expire(caller, delivery.buyerRnc);
      await parts.checkpoint('answered');
      ended = await endingOfAnswer(delivery, answer, () => endpoints.moved(caller, entry, 'receptionUrl'));
    }
    const { ending, result: after } = await recordEnding(
      (one: DeliveryEnding) => parts.store.conclude(delivery, one),
      { ...ended, host: step.host } as DeliveryEnding,
      {
        answered: ended.acknowledgement !== null,
        key: delivery.key,
        unwritable: (detail) => {
          const { health, pauseMs, acknowledgement } = ended;
          const status = acknowledgement === null ? statusOf(delivery) : 'unacknowledged';
          const again = laterOf(delivery, detail, 'unwritable', { status, health, pauseMs });
          return { ...again, acknowledgement: null } as DeliveryEnding;
        },
        report,
        stopping: parts.stopping,
      },
    );
    await parts.checkpoint('recorded');
    if (ending.acknowledgement !== null) report.acknowledged(ending.acknowledgement);
    report.attempted(delivery, ending.outcome, milliseconds());
    if (after.status !== delivery.status) report.changed(after, after.status);
    return ending;
  };
}

/** A later certification run began: the receiver would take the document for that of the new run. */
function superseded(delivery: Claimed): Ending {
  // A document that was answered keeps its status.
  const status = delivery.status === 'unacknowledged' ? 'unacknowledged' : 'not_required';
  const error = 'A later certification run began before the buyer acknowledged the document.';
  return endingWith({ status, outcome: 'superseded', error });
}
