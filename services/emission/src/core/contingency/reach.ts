import { type Answer, isUnreached } from '@ecf/authority-client/answers';
import type { Attempt } from '../attempt/attempt.js';
import { later, OVERDUE_MS } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';

/** Whether the authority gave no answer of its own, or the call was not made. */
export function bringsNothing(answer: Answer<unknown>): boolean {
  return answer.outcome === 'unknown' && (answer.raw === null || isUnreached(answer));
}

/** Notes for the contingency queue whether a document that waited in it reached the authority. The attempt has its deadline then. */
export async function noteReach(
  { contingency, clock }: Pick<Ports, 'contingency' | 'clock'>,
  attempt: Attempt,
  answer: Answer<unknown>,
): Promise<Attempt> {
  if (bringsNothing(answer)) {
    await contingency.unreached(attempt);
    return attempt;
  }
  const returnedAt = await contingency.reached(attempt, clock());
  return attempt.deadline ? attempt : { ...attempt, deadline: later(returnedAt, OVERDUE_MS) };
}
