import { daysBetween, toCalendarDate } from '@ecf/domain';
import type { ReceivedDocument } from '../receive/received-document.js';

/**
 * Days left to approve or reject a received document: 0 on the last day, negative afterwards; null once it is answered. Days
 * are Dominican. The law requires an answer and leaves the period to the authority's technical documents. They name none, so
 * the operator sets the number of days. Source: Ley 32-23 art. 20.
 */
export function approvalDaysLeft(
  document: Pick<ReceivedDocument, 'approvalStatus' | 'receivedAt'>,
  deadlineDays: number,
  now: Date,
): number | null {
  if (document.approvalStatus !== 'pending') return null;
  return deadlineDays - daysBetween(toCalendarDate(document.receivedAt), toCalendarDate(now));
}

/** An unanswered document counts as due soon when at most this number of days is left. */
export const DUE_SOON_DAYS = 2;
