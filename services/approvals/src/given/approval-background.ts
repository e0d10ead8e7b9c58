import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import type { Ports, Target } from '../ports.js';
import type { ApprovalSending } from './approval-sending.js';
import type { GivenApproval } from './given-approval.js';

const TARGETS: readonly Target[] = ['authority', 'issuer'];

export interface ApprovalBackgroundOptions {
  /** Sends in flight at once, for each target. */
  readonly concurrency: number;
  /** Sends to issuers in flight at once, slow ones included. */
  readonly maxInFlight: number;
  /** Milliseconds after which a send to an issuer frees its slot; it goes on beside the others. */
  readonly slowMs: number;
  /** Longest pause in milliseconds between two looks at the database. */
  readonly idleMs: number;
}

/**
 * Sends approvals that are due: after lost answers, to receivers that were away, and what a crashed instance left.
 * Authority and issuers do not wait for each other. An issuer gets one approval after the other, so an issuer that
 * hangs delays no one else.
 */
export function createApprovalBackground(
  ports: Pick<Ports, 'approvals' | 'observer' | 'settings' | 'clock'>,
  sending: Pick<ApprovalSending, 'send' | 'inFlight' | 'renewLeases' | 'settled'>,
  options: ApprovalBackgroundOptions,
) {
  const { leaseMs } = ports.settings;
  const engines = TARGETS.map(sendTo);
  let renewing: NodeJS.Timeout | undefined;

  function sendTo(target: Target): DueWork<GivenApproval> {
    const engine: DueWork<GivenApproval> = createDueWork<GivenApproval>({
      store: {
        claimDue: (request) =>
          ports.approvals.claimDue(target, {
            ...request,
            busy: engine.inFlight().map(({ key }) => `${key.env}:${key.issuerRnc}`),
            // A clock that is set may end the lease of a send in flight here; it is not claimed again.
            inFlight: sending.inFlight(target),
          }),
      },
      handle: (approval) => sending.send(approval, target),
      onError: (error, approval) =>
        ports.observer.failed(approval ? `sending an approval to the ${target}` : 'looking for due approvals', error),
      clock: ports.clock,
      leaseMs,
      idleMs: options.idleMs,
      concurrency: options.concurrency,
      ...(target === 'issuer' ? { slow: { afterMs: options.slowMs, maxInFlight: options.maxInFlight } } : {}),
    });
    return engine;
  }

  /** Also for the sends that a request began. */
  function renew(): void {
    sending.renewLeases().catch((error) => ports.observer.failed('renewing the leases of approvals', error));
  }

  return {
    start(): void {
      for (const engine of engines) engine.start();
      renewing = setInterval(renew, leaseMs / 3);
    },
    wake(): void {
      for (const engine of engines) engine.wake();
    },
    /** Claims nothing new and waits for the sends in flight, whose leases are renewed meanwhile. */
    async stop(): Promise<void> {
      await Promise.all(engines.map((engine) => engine.stop()));
      await sending.settled();
      clearInterval(renewing);
    },
  };
}
