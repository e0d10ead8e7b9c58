import type { Answer, DeliveryAnswer, DirectoryEntry, Health } from '@ecf/authority-client';
import { LoginError } from '@ecf/authority-client/login';
import { messageOf } from '../errors.js';
import { receivingHost } from '../sending/endpoint-address.js';
import { type Caller, ReceiverLoginError } from '../sending/endpoint-logins.js';
import type { ClaimedDelivery } from './delivery.js';
import { endingOfAnswer } from './delivery-answer.js';
import { deliveryCaller } from './delivery-caller.js';
import { type Ending, later, superseded, withoutReceiver } from './delivery-ending.js';
import type { DeliveryPorts } from './delivery-ports.js';
import { recordEnding } from './record-ending.js';

/** The result of an attempt for the circuit breaker of the buyer. */
export interface Attempt {
  readonly health: Health;
  /** Milliseconds of the pause that the receiver asked for. */
  readonly pauseMs: number;
}

/** Makes one attempt and records its outcome. */
export type DeliverDocument = (delivery: ClaimedDelivery) => Promise<Attempt>;

type DeliverPorts = Omit<DeliveryPorts, 'buyerCircuits' | 'elapsed'>;

/** The receiver was called. */
interface Called {
  readonly answer: Answer<DeliveryAnswer>;
  readonly caller: Caller;
  readonly entry: DirectoryEntry;
}

/** The receiver was called, or no call may be made now, or the attempt ended before. `host` receives for the buyer. */
type Step = { readonly host: string | null } & (
  | Called
  | { readonly circuitOpenMs: number }
  | { readonly ending: Ending }
);

/**
 * Delivers an e-CF: looks up the receiver's address, gets its token, sends the accepted bytes and reads the answer. Each
 * step can be repeated after a crash. The same bytes are sent again, and a receiver that has them answers motive 3, which
 * counts as delivered.
 */
export function createDeliverDocument(ports: DeliverPorts): DeliverDocument {
  return async (delivery) => {
    const began = ports.clock().getTime();
    const milliseconds = () => ports.clock().getTime() - began;
    // An error before there is an answer costs a pause, and its retries end at the deadline.
    const step = await reach(ports, delivery).catch((error: unknown): Step => {
      ports.deliveryObserver.failed('beginning a delivery', error, delivery.key);
      return { host: null, ending: later(delivery, ports, messageOf(error), 'failed') };
    });
    if ('circuitOpenMs' in step) {
      const dueAt = new Date(ports.clock().getTime() + step.circuitOpenMs);
      await ports.deliveries.defer(delivery, step.host, dueAt);
      ports.deliveryObserver.attempted(delivery, 'circuit_open', milliseconds());
      return { health: 'neutral', pauseMs: 0 };
    }
    const ended = 'ending' in step ? step.ending : await endingOf(ports, delivery, step);
    const { after, conclusion, health, pauseMs, word } = await recordEnding(ports, delivery, ended, step.host);
    await ports.checkpoint('recorded');
    if (conclusion.acknowledgement !== null) ports.deliveryObserver.acknowledged(conclusion.acknowledgement);
    ports.deliveryObserver.attempted(after, word, milliseconds());
    if (after.status !== delivery.status) ports.deliveryObserver.changed(after, after.status);
    return { health, pauseMs };
  };
}

async function endingOf(
  ports: DeliverPorts,
  delivery: ClaimedDelivery,
  { answer, caller, entry }: Called,
): Promise<Ending> {
  if (answer.outcome === 'unknown') ports.receivers.doubt(caller, delivery.buyerRnc);
  await ports.checkpoint('answered');
  return endingOfAnswer(ports, delivery, answer, () => ports.receivers.moved(caller, entry, 'receptionUrl'));
}

/** Up to the receiver's answer. */
async function reach(ports: DeliverPorts, delivery: ClaimedDelivery): Promise<Step> {
  const { env, issuerRnc, run = 1 } = delivery.key;
  if (env !== 'eCF' && run < (await ports.runs.present(env, issuerRnc)))
    return { host: null, ending: superseded(delivery) };
  const caller = await deliveryCaller(ports, delivery);
  if (typeof caller === 'string') {
    const ending = later(delivery, ports, caller, 'no_certificate');
    return { host: null, ending: { ...ending, conclusion: { ...ending.conclusion, needsCertificate: true } } };
  }
  let entry: DirectoryEntry | null;
  try {
    // The delivery was added while its buyer had no receiver, and waited for its own first look-up.
    const waited = delivery.status === 'no_receiver' && delivery.tries === 1;
    const missSince = waited ? delivery.createdAt : null;
    entry = await ports.receivers.find(caller, delivery.buyerRnc, 'receptionUrl', missSince);
  } catch (error) {
    const word = error instanceof LoginError ? 'login' : 'directory';
    return { host: null, ending: later(delivery, ports, messageOf(error), word) };
  }
  if (entry === null || entry.receptionUrl === null) return { host: null, ending: withoutReceiver(delivery, ports) };
  return call(ports, delivery, caller, entry, entry.receptionUrl);
}

async function call(
  ports: DeliverPorts,
  delivery: ClaimedDelivery,
  caller: Caller,
  entry: DirectoryEntry,
  baseUrl: string,
): Promise<Step> {
  const host = receivingHost(entry);
  // Before the document is read: many deliveries may wait for one host.
  const waitMs = host === null ? 0 : ports.hostCircuits.waitMs(host);
  if (waitMs > 0) return { host, circuitOpenMs: waitMs };
  let xml: Uint8Array;
  try {
    xml = await ports.issuedXml.get(delivery.xml.path, delivery.xml.sha256);
  } catch (error) {
    const words = `The stored document cannot be read: ${messageOf(error)}`;
    return { host, ending: later(delivery, ports, words, 'archive') };
  }
  const { issuerRnc, encf } = delivery.key;
  try {
    const answer = await ports.receivers.admitted(caller, entry, (token) =>
      ports.buyers.deliverDocument({ baseUrl, token, issuerRnc, encf, xml }),
    );
    if (answer.outcome === 'unknown' && answer.cause === 'circuit_open')
      return { host, circuitOpenMs: answer.retryAfterMs ?? 0 };
    return { host, answer, caller, entry };
  } catch (error) {
    if (!(error instanceof ReceiverLoginError))
      return { host, ending: later(delivery, ports, messageOf(error), 'token') };
    const { message, trouble, pauseMs } = error;
    if (trouble === 'circuit_open') return { host, circuitOpenMs: pauseMs };
    // A refused login may concern this issuer alone.
    const health = trouble === 'refused' ? 'neutral' : 'failing';
    return { host, ending: later(delivery, ports, message, 'token', health, { pauseMs }) };
  }
}
