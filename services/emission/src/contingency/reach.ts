import { type Answer, isUnanswered } from '@ecf/authority-client/answers';
import type { Attempt } from '../attempt/attempt.js';
import { later, OVERDUE_MS } from '../attempt/transitions.js';
import type { ContingencyStore } from './contingency.js';

/**
 * Notes for the contingency queue whether a document that waited in it reached the authority. The attempt has its
 * deadline then.
 */
export async function noteReach(
  { contingency, clock }: { readonly contingency: ContingencyStore; readonly clock: () => Date },
  attempt: Attempt,
  answer: Answer<unknown>,
): Promise<Attempt> {
  if (isUnanswered(answer)) {
    await contingency.unreached(attempt);
    return attempt;
  }
  const returnedAt = await contingency.reached(attempt, clock());
  return attempt.deadline ? attempt : { ...attempt, deadline: later(returnedAt, OVERDUE_MS) };
}
