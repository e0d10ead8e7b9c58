import { dominicanDays, toCalendarDate } from '@ecf/domain';
import type { Metrics } from '@ecf/service-kit/telemetry';
import type { DocumentStore } from '../ports.js';
import { DUE_SOON_DAYS } from './approval-deadline.js';

const DAY_MS = 86_400_000;

/**
 * Before each reading of the metrics, looks up how many received documents wait for their answer too long; returns how to
 * end that. `overdue` above zero is an alarm.
 */
export function reportDeadline(
  metrics: Metrics,
  documents: Pick<DocumentStore, 'unansweredSince'>,
  deadlineDays: number,
  clock: () => Date,
): () => void {
  const awaited = metrics.gauge({
    name: 'ecf_reception_approvals_awaited',
    help: `Received e-CF without approval or rejection, after the deadline (overdue) or at most ${DUE_SOON_DAYS} days before it (due_soon).`,
    labels: ['env', 'state'],
  });
  /** The instant before which a document was received that has `left` days or less. */
  const receivedWith = (left: number): Date => {
    const day = toCalendarDate(new Date(clock().getTime() - (deadlineDays - left) * DAY_MS));
    return dominicanDays(day, day).until;
  };
  return metrics.onRender(async () => {
    const [overdue, soon] = await Promise.all([
      documents.unansweredSince(receivedWith(-1)),
      documents.unansweredSince(receivedWith(DUE_SOON_DAYS)),
    ]);
    awaited.reset();
    for (const { env, count } of soon) {
      const late = overdue.find((one) => one.env === env)?.count ?? 0;
      awaited.set({ env, state: 'overdue' }, late);
      awaited.set({ env, state: 'due_soon' }, count - late);
    }
  });
}
