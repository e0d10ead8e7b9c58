import type { Ports } from './ports.js';
import { againDue, firstDue } from './schedule.js';
import { publishedSubmissions } from './submission.js';

const PAGE = 1_000;
const AGAIN_MS = 5_000;

/**
 * Compares with emission itself: at its first start until emission has told all that is undecided, so also what was submitted
 * before this service listened, and from then on now and again. What an event should have told and did not, to this service or
 * from it, is mended so. What events tell meanwhile stays as it is.
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
      const told = page.invoices.flatMap((invoice) => publishedSubmissions(invoice, now));
      const dueAt = (one: (typeof told)[number]) => firstDue(one.submittedAt, now, settings.firstQueryMs, ports.random);
      // A decision of a moment ago may be under way to emission.
      const settled = {
        before: new Date(now.getTime() - settings.compareEveryMs),
        dueAt: (submittedAt: Date) => againDue(submittedAt, now, ports.random),
      };
      if (await submissions.compare(told, dueAt, settled)) onPoll();
      after = page.next;
    }
  }

  async function learn(): Promise<void> {
    if (await submissions.caughtUp()) return;
    await compare();
    if (!stopping) await submissions.noteCaughtUp();
  }

  /** False where it failed. */
  async function succeeds(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      ports.observer.failed('learning of undecided submissions', error);
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
