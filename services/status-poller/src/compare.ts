import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '@ecf/service-kit/retry';
import type { Ports } from './ports.js';
import { againDue, firstDue } from './schedule.js';
import { publishedSubmissions } from './submission.js';

const PAGE = 1_000;
const AGAIN_MS = 5_000;

/**
 * Compares the polls with what emission awaits: at the start, until it succeeds, and then from time to time. So the submissions from
 * before this service subscribed are queried, and events that were lost in either direction are repaired.
 */
export function createComparison(
  ports: Pick<Ports, 'submissions' | 'emission' | 'observer' | 'clock' | 'random' | 'settings'>,
  onPoll: () => void,
): { start(): void; stop(): Promise<void> } {
  const { submissions, settings, observer } = ports;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();

  async function compare(): Promise<void> {
    for (let after: number | null = 0; after !== null && !signal.aborted; ) {
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

  async function run(): Promise<void> {
    const onFailure = (error: unknown) => observer.failed('comparing undecided submissions with emission', error);
    while (!signal.aborted) {
      await retry(compare, { firstMs: AGAIN_MS, longestMs: settings.compareEveryMs, signal, onFailure });
      const pauseMs = settings.compareEveryMs * (0.75 + ports.random() * 0.5);
      await delay(pauseMs, undefined, { signal });
    }
  }

  return {
    start() {
      // Only the end of the service rejects it.
      running = run().catch(() => undefined);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
