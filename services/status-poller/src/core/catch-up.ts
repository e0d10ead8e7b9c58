import type { Ports } from './ports.js';
import { firstDue } from './schedule.js';
import { toldSubmissions } from './submission.js';

const PAGE = 1_000;
const AGAIN_MS = 5_000;

/**
 * Learns once, from emission itself, of the undecided submissions that were told before this service listened; until
 * emission has told all. What events tell meanwhile stays as it is.
 */
export function createCatchUp(
  ports: Pick<Ports, 'submissions' | 'emission' | 'observer' | 'clock' | 'random' | 'settings'>,
  sleep: (ms: number) => Promise<unknown>,
  onPoll: () => void,
): { run(): Promise<void>; stop(): void } {
  let stopping = false;

  async function learn(): Promise<void> {
    if (await ports.submissions.caughtUp()) return;
    for (let after: number | null = 0; after !== null && !stopping; ) {
      const page = await ports.emission.pageOfUndecided({ after, limit: PAGE });
      const now = ports.clock();
      for (const invoice of page.invoices) {
        const told = toldSubmissions(invoice, now);
        const dueAt = (one: (typeof told)[number]) =>
          firstDue(one.submittedAt, now, ports.settings.firstQueryMs, ports.random);
        if (await ports.submissions.apply(told, dueAt, null)) onPoll();
      }
      after = page.next;
    }
    if (!stopping) await ports.submissions.noteCaughtUp();
  }

  return {
    async run() {
      while (!stopping) {
        try {
          return await learn();
        } catch (error) {
          ports.observer.failed('learning of undecided submissions', error);
          await sleep(AGAIN_MS);
        }
      }
    },
    stop: () => {
      stopping = true;
    },
  };
}
