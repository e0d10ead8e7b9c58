import { Unwritable } from '../errors.js';
import type { Exchange, Progress, Target } from '../ports.js';
import type { GivenApproval } from './given-approval.js';
import { type Ending, laterAtAuthority, laterAtIssuer, notSent } from './send-endings.js';
import { type SendPorts, sendToAuthority, sendToIssuer } from './send-to-target.js';

/**
 * Sends approvals to the authority and to issuers: always the same bytes, until each target has decided. A lost answer is sent
 * again; "was loaded and accepted before" then says that the first copy arrived.
 */
export interface ApprovalSending {
  /**
   * Both sends of a new record. Resolves with what is known when the authority has answered and the issuer has had its time; a
   * send in flight goes on.
   */
  atOnce(approval: GivenApproval): Promise<GivenApproval>;
  /** One send of a claimed record. */
  send(approval: GivenApproval, target: Target): Promise<void>;
  /** The records in flight, until their ending is recorded. */
  inFlight(target: Target): number[];
  /** Renews the leases of sends that have no ending yet. */
  renewLeases(): Promise<void>;
  /** Resolves when no send of a request is in flight. */
  settled(): Promise<void>;
}

export function createApprovalSending(ports: SendPorts): ApprovalSending {
  const ofRequests = new Set<Promise<void>>();
  /** Renewed only until the ending, which sets the next due time. */
  const leases: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };
  const inFlight: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };

  async function send(approval: GivenApproval, target: Target): Promise<void> {
    inFlight[target].add(approval.id);
    try {
      const ending = await endingOf(approval, target);
      ports.observer.sent(target, ending.word);
      await record(approval, target, ending);
    } finally {
      inFlight[target].delete(approval.id);
    }
  }

  async function endingOf(approval: GivenApproval, target: Target): Promise<Ending> {
    leases[target].add(approval.id);
    try {
      return target === 'authority' ? await sendToAuthority(ports, approval) : await sendToIssuer(ports, approval);
    } finally {
      leases[target].delete(approval.id);
    }
  }

  /** The database never takes some values: such an answer is left out, and the approval is sent again later. */
  async function record(approval: GivenApproval, target: Target, ending: Ending): Promise<void> {
    try {
      await ports.approvals.progress(approval, ending.progress, ending.exchange);
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      ports.observer.failed(`recording how a send of an approval to the ${target} ended`, error);
      const words = `The result cannot be recorded: ${error.message}`;
      const { sentAt, status } = ending.progress;
      const later =
        target === 'authority'
          ? laterAtAuthority(ports, approval, words, sentAt !== null || status === 'submitted')
          : laterAtIssuer(ports, approval, words);
      const exchange: Exchange = { ...notSent(ports, target, words), outcome: 'unwritable' };
      await ports.approvals.progress(approval, { ...later.progress, sentAt } as Progress, exchange);
    }
  }

  /** A send that fails here falls due again when its lease ends. */
  function sendOfRequest(approval: GivenApproval, target: Target): Promise<void> {
    const work = send(approval, target)
      .catch((error) => ports.observer.failed(`sending an approval to the ${target}`, error))
      .finally(() => ofRequests.delete(work));
    ofRequests.add(work);
    return work;
  }

  return {
    async atOnce(approval) {
      const toAuthority = sendOfRequest(approval, 'authority');
      const toIssuer = approval.issuer.status === 'pending' ? sendOfRequest(approval, 'issuer') : Promise.resolve();
      await toAuthority;
      await Promise.race([toIssuer, ports.sleep(ports.settings.issuerWaitMs)]);
      return (await ports.approvals.find(approval.id)) ?? approval;
    },
    send,
    inFlight: (target) => [...inFlight[target]],
    async renewLeases() {
      const until = new Date(ports.clock().getTime() + ports.settings.leaseMs);
      for (const target of ['authority', 'issuer'] as const) {
        const ids = [...leases[target]];
        if (ids.length > 0) await ports.approvals.renewLeases(target, ids, until);
      }
    },
    async settled() {
      await Promise.all(ofRequests);
    },
  };
}
