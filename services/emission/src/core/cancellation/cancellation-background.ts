import type { Certificates } from '../credentials/certificates.js';
import type { Taxpayers } from '../taxpayers.js';
import type { Cancellation } from './cancellation.js';
import { type CancellationPorts, leaseFrom } from './cancellation-ports.js';
import type { SendCancellation } from './send-cancellation.js';

export interface CancellationBackground {
  start(): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

/**
 * Sends what is due: lost answers, an authority that was away, what a process that ended left behind. One at a time: they
 * are few, and one may be twelve megabytes. Rows are claimed with SKIP LOCKED, so instances share the work.
 */
export function createCancellationBackground(
  ports: CancellationPorts,
  taxpayers: Pick<Taxpayers, 'lastKnown'>,
  certificates: Certificates,
  send: SendCancellation,
  { idleMs }: { readonly idleMs: number },
): CancellationBackground {
  let stopping = false;
  let wake: () => void = () => undefined;
  let stopped: Promise<void> = Promise.resolve();

  async function once(): Promise<boolean> {
    const now = ports.clock();
    const lease = leaseFrom(now, ports.settings);
    const claimed = await ports.cancellations.claimDue(now, lease, send.underWay());
    if (claimed === null) return false;
    await ports.checkpoint('claimed');
    await send(claimed, await usable(claimed));
    return true;
  }

  /** The issuer's certificate as last heard of. */
  async function usable({ issuerRnc, accountId, id }: Cancellation) {
    const taxpayer = await taxpayers.lastKnown(issuerRnc);
    try {
      return taxpayer === null || taxpayer.account_id !== accountId ? null : certificates.stored(taxpayer);
    } catch (error) {
      ports.cancellationObserver.failed('opening a certificate for a cancellation', error, id);
      return null;
    }
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      let worked = false;
      try {
        worked = await once();
      } catch (error) {
        ports.cancellationObserver.failed('looking for cancellations that are due', error);
      }
      if (!stopping && !worked)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, idleMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
    }
  }

  return {
    start() {
      stopped = loop();
    },
    async stop() {
      stopping = true;
      wake();
      await stopped;
    },
  };
}
