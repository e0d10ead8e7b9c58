import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import type { SigningCertificate } from '@ecf/xml-signing';
import type { Certificates } from '../credentials/certificates.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import type { Cancellation } from './cancellation.js';
import { type CancellationPorts, leaseMs } from './ports.js';
import type { SendCancellation } from './send-cancellation.js';

/**
 * Sends due cancellations: after a lost answer, an outage of the authority, or a crash of the sending instance. One at a
 * time, because they are few and one may have twelve megabytes.
 */
export function createCancellationBackground(
  ports: CancellationPorts,
  taxpayers: Pick<Taxpayers, 'lastKnown'>,
  certificates: Certificates,
  send: SendCancellation,
  { idleMs }: { readonly idleMs: number },
): DueWork<Cancellation> {
  /** The stored certificate of the issuer; null if it cannot sign now. */
  async function certificateOf({ issuerRnc, accountId, id }: Cancellation): Promise<SigningCertificate | null> {
    const taxpayer = await taxpayers.lastKnown(issuerRnc);
    try {
      return taxpayer === null || taxpayer.account_id !== accountId ? null : certificates.stored(taxpayer);
    } catch (error) {
      ports.cancellationObserver.failed('opening a certificate for a cancellation', error, id);
      return null;
    }
  }

  return createDueWork<Cancellation>({
    store: {
      async claimDue(request) {
        const claimed = await ports.cancellations.claimDue({ ...request, inFlight: send.inFlight() });
        if (claimed.length > 0) await ports.checkpoint('claimed');
        return claimed;
      },
    },
    async handle(cancellation) {
      await send(cancellation, await certificateOf(cancellation));
    },
    onError: (error, cancellation) =>
      ports.cancellationObserver.failed(
        cancellation === undefined ? 'looking for cancellations that are due' : 'sending a cancellation',
        error,
        cancellation?.id,
      ),
    clock: ports.clock,
    leaseMs: leaseMs(ports.settings),
    idleMs,
    concurrency: 1,
  });
}
