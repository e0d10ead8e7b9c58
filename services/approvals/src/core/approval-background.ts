import type { GivenApproval } from './given-approval.js';
import type { Ports, Target } from './ports.js';
import type { SendApproval } from './send-approval.js';

const TARGETS: readonly Target[] = ['authority', 'issuer'];

export interface ApprovalBackgroundOptions {
  /** Sends under way at once, for each target. */
  readonly concurrency: number;
  /** Milliseconds between looks at the database. */
  readonly idleMs: number;
}

/**
 * Takes up sends that are due: lost answers, receivers that were away, and what instances that ended left behind. Rows are
 * claimed with SKIP LOCKED, so instances share the work. Authority and issuers do not wait for each other.
 */
export function createApprovalBackground(
  ports: Pick<Ports, 'approvals' | 'observer' | 'settings' | 'clock' | 'sleep'>,
  sending: Pick<SendApproval, 'send' | 'keepClaims'>,
  options: ApprovalBackgroundOptions,
) {
  const running = new Set<Promise<void>>();
  let stopping = false;
  let loops: Promise<unknown> = Promise.resolve();

  async function once(target: Target): Promise<number> {
    const now = ports.clock();
    const until = new Date(now.getTime() + ports.settings.leaseMs);
    const free = options.concurrency - running.size / TARGETS.length;
    const claimed = await ports.approvals.claimDue(target, now, until, Math.max(1, Math.floor(free)));
    await Promise.all(claimed.map((approval) => work(approval, target)));
    return claimed.length;
  }

  function work(approval: GivenApproval, target: Target): Promise<void> {
    const task = sending
      .send(approval, target)
      .catch((error) => ports.observer.failed(`sending an approval to the ${target}`, error))
      .finally(() => running.delete(task));
    running.add(task);
    return task;
  }

  async function loop(target: Target): Promise<void> {
    while (!stopping) {
      let claimed = 0;
      try {
        claimed = await once(target);
      } catch (error) {
        ports.observer.failed('looking for approvals that are due', error);
      }
      if (!stopping && claimed === 0) await ports.sleep(options.idleMs);
    }
  }

  /** Claims are prolonged here, so that those of an instance that ended run out soon. */
  async function keepClaims(): Promise<void> {
    while (!stopping) {
      await ports.sleep(ports.settings.leaseMs / 3);
      if (stopping) return;
      await sending.keepClaims().catch((error) => ports.observer.failed('prolonging claims', error));
    }
  }

  return {
    start(): void {
      loops = Promise.all([...TARGETS.map(loop), keepClaims()]);
    },
    /** Takes nothing new and waits for what is under way. */
    async stop(): Promise<void> {
      stopping = true;
      await loops;
    },
    once,
  };
}
