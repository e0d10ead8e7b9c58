import type { Answer, ApprovalDeliveryAnswer, DirectoryEntry } from '@ecf/authority-client';
import { callWithToken, LoginError } from '@ecf/authority-client/login';
import { messageOf } from '../errors.js';
import type { Ports, Target } from '../ports.js';
import { type Caller, ReceiverLoginError } from '../sending/endpoint-logins.js';
import type { GivenApproval } from './given-approval.js';
import {
  type Ending,
  endingAtAuthority,
  endingAtIssuer,
  laterAtAuthority,
  laterAtIssuer,
  withoutReceiver,
} from './send-endings.js';

export type SendPorts = Pick<
  Ports,
  | 'approvals'
  | 'taxpayers'
  | 'certificates'
  | 'archive'
  | 'authority'
  | 'issuers'
  | 'receivers'
  | 'tokens'
  | 'observer'
  | 'settings'
  | 'clock'
  | 'random'
  | 'sleep'
>;

/** Sends an approval to the authority; resolves with the outcome. */
export async function sendToAuthority(ports: SendPorts, approval: GivenApproval): Promise<Ending> {
  const caller = await approvalCaller(ports, approval);
  const arrivedBefore = await mayHaveArrived(ports, approval, 'authority');
  if (caller === null) return laterAtAuthority(ports, approval, 'no certificate to log in with', arrivedBefore);
  const { env, buyerRnc, encf } = approval.key;
  let xml: Uint8Array;
  try {
    xml = await bytesOf(ports, approval);
  } catch (error) {
    const detail = `the stored document cannot be read: ${messageOf(error)}`;
    return laterAtAuthority(ports, approval, detail, arrivedBefore);
  }
  try {
    const answer = await callWithToken(ports.tokens, caller, (token) =>
      ports.authority.submitCommercialApproval({ env, token, buyerRnc, encf, xml }),
    );
    return endingAtAuthority(ports, approval, answer, arrivedBefore);
  } catch (error) {
    if (error instanceof LoginError) return laterAtAuthority(ports, approval, error.message, arrivedBefore);
    throw error;
  }
}

/** Sends an approval to its issuer; resolves with the outcome. */
export async function sendToIssuer(ports: SendPorts, approval: GivenApproval): Promise<Ending> {
  const caller = await approvalCaller(ports, approval);
  if (caller === null) return laterAtIssuer(ports, approval, 'no certificate to look the issuer up with');
  // Before the send: a database that fails afterwards must not lose the answer.
  const arrivedBefore = await mayHaveArrived(ports, approval, 'issuer');
  const { issuerRnc, buyerRnc, encf } = approval.key;
  let answer: Answer<ApprovalDeliveryAnswer>;
  let entry: DirectoryEntry | null;
  try {
    entry = await ports.receivers.find(caller, issuerRnc, 'approvalUrl');
    if (entry === null || entry.approvalUrl === null) return withoutReceiver(ports, approval);
    const baseUrl = entry.approvalUrl;
    const xml = await bytesOf(ports, approval);
    answer = await ports.receivers.admitted(caller, entry, (token) =>
      ports.issuers.deliverApproval({ baseUrl, token, buyerRnc, encf, xml }),
    );
  } catch (error) {
    const pauseMs = error instanceof ReceiverLoginError ? error.pauseMs : 0;
    return laterAtIssuer(ports, approval, messageOf(error), pauseMs);
  }
  if (answer.outcome === 'unknown' && answer.cause !== 'circuit_open') ports.receivers.doubt(caller, issuerRnc);
  const ending = endingAtIssuer(ports, approval, answer, arrivedBefore);
  return ending.word === 'refused' ? refusedUnlessMoved(ports, approval, ending, caller, entry) : ending;
}

/**
 * The buyer in whose name an approval is sent. A signed approval is sent even for a taxpayer that was deactivated since. Null
 * where the buyer has no certificate that can sign now.
 */
async function approvalCaller(
  ports: Pick<Ports, 'taxpayers' | 'certificates' | 'observer' | 'clock'>,
  { key, accountId }: GivenApproval,
): Promise<Caller | null> {
  const buyer = await ports.taxpayers.taxpayer(key.buyerRnc);
  if (buyer === null || buyer.account_id !== accountId) return null;
  try {
    const certificate = ports.certificates.open(buyer, ports.clock());
    return { env: key.env, account: accountId, rnc: buyer.rnc, certificate };
  } catch (error) {
    ports.observer.failed('opening a certificate', error);
    return null;
  }
}

/** Whether an earlier send may have arrived: it is known to have left, or its process ended before it recorded anything. */
async function mayHaveArrived(
  { approvals }: SendPorts,
  { id, ...sides }: GivenApproval,
  target: Target,
): Promise<boolean> {
  const { sentAt, tries } = sides[target];
  if (sentAt !== null || tries <= 1) return sentAt !== null;
  if ((await approvals.recordedSends(id, target)) < tries - 1) return true;
  // An instance that was overtaken may have recorded it since this send was claimed.
  return ((await approvals.find(id))?.[target].sentAt ?? null) !== null;
}

/** A refusal stands only while the directory lists the issuer there: otherwise it is that of a former provider. */
async function refusedUnlessMoved(
  ports: SendPorts,
  approval: GivenApproval,
  refused: Ending,
  caller: Caller,
  called: DirectoryEntry,
): Promise<Ending> {
  let words = 'It was refused at an address where the directory no longer lists the issuer.';
  try {
    if (!(await ports.receivers.moved(caller, called, 'approvalUrl'))) return refused;
  } catch (error) {
    words = `It was refused, and the directory does not say where the issuer is listed now: ${messageOf(error)}`;
  }
  return { ...laterAtIssuer(ports, approval, words), exchange: refused.exchange };
}

function bytesOf({ archive }: SendPorts, { xml }: GivenApproval): Promise<Buffer> {
  return archive.get(xml.path, xml.sha256);
}
