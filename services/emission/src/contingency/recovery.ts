import { isUnanswered } from '@ecf/authority-client/answers';
import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { Attempt } from '../attempt/attempt.js';
import type { EmissionStore, Observer } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import { foundLate, later, OVERDUE_MS } from '../attempt/transitions.js';
import type { Authority } from '../sending/ports.js';
import { type Contingency, type ContingencyStore, FIRST_PROBE_MS, type WaitingDocuments } from './ports.js';

/**
 * Longest pause between two probes of an unreachable authority. The first probe is after {@link FIRST_PROBE_MS}, and the
 * pauses grow.
 */
export const LONGEST_PROBE_MS = 30_000;
/** Failures in a row after which a recovery waits again. One document that always fails does not reach it. */
const FAILURES = 5;
const TICK_MS = 1_000;
const GROWTH = 1.1;
/** Documents a second. */
const FASTEST = 1_000;
/** Documents whose alarm is raised in one run. */
const LATE_PER_RUN = 100;

/**
 * Sends the documents that wait for the authority, oldest first: one at a time while it is unreachable, then at a growing
 * rate while it answers. The follow-up sends each as any other document.
 */
export function createRecovery(
  {
    authority,
    contingency,
    emissions,
    recorder,
    observer,
    clock,
  }: {
    readonly authority: Pick<Authority, 'requestSeed'>;
    readonly contingency: ContingencyStore;
    readonly emissions: Pick<EmissionStore, 'find'>;
    readonly recorder: Recorder;
    readonly observer: Observer;
    readonly clock: () => Date;
  },
  { idleMs, recoveryRate }: { readonly idleMs: number; readonly recoveryRate: number },
): DueWork<Contingency> {
  async function alarmOfLate(present: Contingency, now: Date): Promise<void> {
    for (const key of await contingency.late(present, now, LATE_PER_RUN)) {
      const attempt = await emissions.find(key);
      const decide = (one: Attempt) => (one.queuedAt ? foundLate(one, recorder.timing()) : null);
      if (attempt !== null) await recorder.record(attempt, decide);
    }
  }

  async function handle(present: Contingency): Promise<void> {
    const now = clock();
    if (present.returnedAt !== null) await contingency.setDeadlines(present, later(present.returnedAt, OVERDUE_MS));
    await alarmOfLate(present, now);
    const waiting = await contingency.waiting(present, now);
    if (present.returnedAt === null) return probe(present, waiting);
    // A document may be signed at this moment, so the queue is checked again.
    if (waiting.total === 0) return contingency.rest(present, later(now, LONGEST_PROBE_MS));
    if (present.failures >= FAILURES) return probe(present, waiting);
    const grown = present.rate * (present.failures === 0 ? GROWTH : 1);
    // The setting may have been raised since the recovery began.
    const rate = Math.min(Math.max(grown, recoveryRate), FASTEST);
    const more = Math.round(rate) - waiting.released;
    if (more > 0) await contingency.release(present, more, now);
    await contingency.save({ ...present, rate }, later(now, TICK_MS));
  }

  /** The first probe is a request for a seed, because a document without an answer has to be looked up before it is sent again. */
  async function probe(present: Contingency, { total, probing }: WaitingDocuments): Promise<void> {
    const answered = !isUnanswered(await authority.requestSeed({ env: present.env }));
    if (!answered) await contingency.unreached(present);
    const probeIn = (ms: number) => contingency.save({ ...present, rate: recoveryRate }, later(clock(), ms));
    await probeIn(Math.min(FIRST_PROBE_MS * 2 ** present.failures, LONGEST_PROBE_MS));
    if (!answered || probing > 0) return;
    // The waiting documents may all be held notes, which are not sent: the seed is the first answer then.
    if (total === 0) return void (await contingency.reached(present, clock()));
    // The time of the next probe is already stored. A document that fails immediately may set an earlier one.
    const released = await contingency.release(present, 1, clock());
    // The remaining documents failed because of their own content. Each keeps its own retry time.
    if (released === 0) await probeIn(LONGEST_PROBE_MS);
  }

  return createDueWork<Contingency>({
    store: contingency,
    handle,
    onError: (error) => observer.failed('sending what waits for the authority', error),
    clock,
    leaseMs: LONGEST_PROBE_MS,
    idleMs,
    concurrency: 4,
  });
}
