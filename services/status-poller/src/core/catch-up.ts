import type { Ports } from './ports.js';
import { againDue, firstDue } from './schedule.js';
import { publishedSubmissions } from './submission.js';

const PAGE = 1_000;
const AGAIN_MS = 5_000;

/**
 * Compares the polls with emission. At the first start it takes over all undecided submissions, also those from before this
 * service subscribed. Later it repeats the comparison now and then, which repairs events that were lost in either direction.
 */
export function createCatchUp(
  ports: Pick<Ports, 'submissions' | 'emission' | 'observer' | 'clock' | 'random' | 'settings'>,
  sleep: (ms: number) => Promise<unknown>,
  onPoll: () => void,
): { run(): Promise<void>; stop(): void } {
  const { submissions, settings } = ports;
  let stopping = false;

  async function compare(): Promise<void> {
    for (let after: number | null = 0; after !== null && !stopping; ) {
      const page = await ports.emission.pageOfUndecided({ after, limit: PAGE });
      const now = ports.clock();
      const published = page.invoices.flatMap((invoice) => publishedSubmissions(invoice, now));
      const dueAt = (one: (typeof published)[number]) =>
        firstDue(one.submittedAt, now, settings.firstQueryMs, ports.random);
      // The event of a recent decision may not have reached emission yet.
      const settled = {
        before: new Date(now.getTime() - settings.compareEveryMs),
        dueAt: (submittedAt: Date) => againDue(submittedAt, now, ports.random),
      };
      if (await submissions.compare(published, dueAt, settled)) onPoll();
      after = page.next;
    }
  }

  async function learn(): Promise<void> {
    if (await submissions.caughtUp()) return;
    await compare();
    if (!stopping) await submissions.noteCaughtUp();
  }

  /** False if it failed. */
  async function succeeds(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      ports.observer.failed('comparing undecided submissions with emission', error);
      return false;
    }
  }

  return {
    async run() {
      while (!stopping && !(await succeeds(learn))) await sleep(AGAIN_MS);
      while (!stopping) {
        await sleep(settings.compareEveryMs * (0.75 + ports.random() * 0.5));
        if (!stopping) await succeeds(compare);
      }
    },
    stop: () => {
      stopping = true;
    },
  };
}
