import type { Ports, Target } from '../ports.js';
import type { GivenApproval } from './given-approval.js';
import type { SendApproval } from './send-approval.js';

const TARGETS: readonly Target[] = ['authority', 'issuer'];

export interface ApprovalBackgroundOptions {
  /** Sends under way at once, for each target. */
  readonly concurrency: number;
  /** Sends under way to issuers at once, those that keep us waiting included. */
  readonly mostWaiting: number;
  /** A send to an issuer that takes longer gives its place to another; it goes on beside. */
  readonly slowMs: number;
  /** Milliseconds between looks at the database. */
  readonly idleMs: number;
}

/** Sends to one target that are under way, with whom they are for. */
interface UnderWay {
  readonly tasks: Map<Promise<void>, string>;
  slow: number;
}

/**
 * Takes up sends that are due: lost answers, receivers that were away, and what instances that ended left behind. Rows are
 * claimed with SKIP LOCKED, so instances share the work. Authority and issuers do not wait for each other; an issuer gets one
 * after the other, so that one that hangs keeps nothing from the others.
 */
export function createApprovalBackground(
  ports: Pick<Ports, 'approvals' | 'observer' | 'settings' | 'clock' | 'sleep'>,
  sending: Pick<SendApproval, 'send' | 'underWay' | 'keepClaims' | 'settled'>,
  options: ApprovalBackgroundOptions,
) {
  const running: Readonly<Record<Target, UnderWay>> = {
    authority: { tasks: new Map(), slow: 0 },
    issuer: { tasks: new Map(), slow: 0 },
  };
  let stopping = false;
  let loops: Promise<unknown> = Promise.resolve();
  let keeping: NodeJS.Timeout | undefined;

  async function look(target: Target): Promise<number> {
    const { tasks, slow } = running[target];
    const most = target === 'issuer' ? options.mostWaiting : options.concurrency;
    const limit = Math.min(options.concurrency - (tasks.size - slow), most - tasks.size);
    if (limit <= 0) return 0;
    const now = ports.clock();
    const until = new Date(now.getTime() + ports.settings.leaseMs);
    // What is under way here stays so, though the clock was set and the claim seems to have run out.
    const [busy, underWay] = [[...tasks.values()], sending.underWay(target)];
    const claimed = await ports.approvals.claimDue(target, { now, until, limit, busy, underWay });
    for (const approval of claimed) run(approval, target);
    return claimed.length;
  }

  function run(approval: GivenApproval, target: Target): void {
    const under = running[target];
    let waiting = false;
    const timer = setTimeout(() => {
      waiting = true;
      under.slow += 1;
    }, options.slowMs);
    const task = sending
      .send(approval, target)
      .catch((error) => ports.observer.failed(`sending an approval to the ${target}`, error))
      .finally(() => {
        clearTimeout(timer);
        if (waiting) under.slow -= 1;
        under.tasks.delete(task);
      });
    under.tasks.set(task, `${approval.key.env}:${approval.key.issuerRnc}`);
  }

  async function loop(target: Target): Promise<void> {
    while (!stopping) {
      let claimed = 0;
      try {
        claimed = await look(target);
      } catch (error) {
        ports.observer.failed('looking for approvals that are due', error);
      }
      if (!stopping && claimed === 0)
        await Promise.race([ports.sleep(options.idleMs), ...running[target].tasks.keys()]);
    }
    await Promise.all(running[target].tasks.keys());
  }

  /** Claims are prolonged here, so that those of an instance that ended run out soon. */
  function keep(): void {
    void sending.keepClaims().catch((error) => ports.observer.failed('prolonging claims', error));
  }

  return {
    start(): void {
      loops = Promise.all(TARGETS.map(loop));
      keeping = setInterval(keep, ports.settings.leaseMs / 3);
    },
    /** Takes nothing new and waits for what is under way, which stays claimed meanwhile. */
    async stop(): Promise<void> {
      stopping = true;
      await loops;
      await sending.settled();
      clearInterval(keeping);
    },
  };
}
