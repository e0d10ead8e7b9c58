// State transitions that an answer to a submission or to a result query causes.
import type { Answer, AuthorityVerdict, SubmissionReceipt } from '@ecf/authority-client';
import { EMISSION_STATES, GATEWAY_CODE, isCombinationUsed, isNumberReusable, verdictEvent } from '@ecf/domain';
import { type Attempt, isBeingSent, NO_VERDICT, type PastSubmission, type VerdictFacts } from './attempt.js';
import { addSubmission } from './submission-history.js';
import {
  accepts,
  applyTransition,
  backInQueue,
  causeOf,
  causeOfLookUp,
  explained,
  inProcess,
  isLookedUp,
  later,
  leftToOperator,
  notFound,
  pastOf,
  pause,
  pauseOf,
  postponed,
  sendLost,
  sendNotTaken,
  type Timing,
  undecided,
} from './transitions.js';

/** The answer to a full document; null if it comes too late to matter. */
export function afterReceipt(attempt: Attempt, answer: Answer<SubmissionReceipt>, timing: Timing): Attempt | null {
  const after = receiptTransition(attempt, answer, timing);
  return after && explained(after, causeOf(answer));
}

function receiptTransition(attempt: Attempt, answer: Answer<SubmissionReceipt>, timing: Timing): Attempt | null {
  if (!isBeingSent(attempt)) return afterLateReceipt(attempt, answer, timing);
  switch (answer.outcome) {
    case 'verdict':
      if (answer.verdict.trackId !== null) return inProcess(attempt, answer.verdict.trackId, false, timing);
      // Refused without a trackId: the authority did not take the document, and this is not a verdict on it.
      return {
        ...sendNotTaken(attempt, timing),
        verdict: { ...attempt.verdict, messages: answer.verdict.messages },
      };
    case 'unauthorized':
    case 'refused':
      return sendNotTaken(attempt, timing);
    case 'unknown':
      return answer.reachedAuthority === 'no' ? notSent(attempt, answer, timing) : sendLost(attempt, timing);
  }
}

/** No byte of the document was sent. A taxpayer that the authority limits waits for the end of its pause, not in the queue. */
function notSent(attempt: Attempt, answer: Answer<unknown>, timing: Timing): Attempt {
  const after = sendNotTaken(attempt, timing, pauseOf(answer));
  return causeOf(answer) === 'taxpayer-limited' ? after : backInQueue(after);
}

/** The verdict on a consumer summary; null if it comes too late to matter. */
export function afterSummary(attempt: Attempt, answer: Answer<AuthorityVerdict>, timing: Timing): Attempt | null {
  const after = summaryTransition(attempt, answer, timing);
  return after && explained(after, causeOf(answer));
}

function summaryTransition(attempt: Attempt, answer: Answer<AuthorityVerdict>, timing: Timing): Attempt | null {
  if (!isBeingSent(attempt)) return afterLateSummary(attempt, answer, timing);
  switch (answer.outcome) {
    case 'verdict': {
      const { status } = answer.verdict;
      if (status === 'EnProceso' || status === 'No encontrado') return sendLost(attempt, timing);
      return afterVerdict(attempt, answer.verdict, attempt.lostSends >= 1, timing);
    }
    case 'unauthorized':
    case 'refused':
      return sendNotTaken(attempt, timing);
    case 'unknown':
      return answer.reachedAuthority === 'no' ? notSent(attempt, answer, timing) : sendLost(attempt, timing);
  }
}

/** A late receipt for a send that was given up: the trackId is adopted if none is known, else noted in the history. */
function afterLateReceipt(attempt: Attempt, answer: Answer<SubmissionReceipt>, timing: Timing): Attempt | null {
  const trackId = answer.outcome === 'verdict' ? answer.verdict.trackId : null;
  if (trackId === null || trackId === attempt.trackId) return null;
  if (attempt.trackId === null && accepts(attempt, 'in-process')) return inProcess(attempt, trackId, true, timing);
  if (attempt.past.some((past) => past.trackId === trackId)) return null;
  const copy: PastSubmission = { ...pastOf(attempt, NO_VERDICT), trackId };
  return applyTransition(attempt, null, { past: addSubmission(attempt.past, copy) });
}

/** A late verdict for a send that was given up. It counts, unless it refuses a repeat. */
function afterLateSummary(attempt: Attempt, answer: Answer<AuthorityVerdict>, timing: Timing): Attempt | null {
  if (answer.outcome !== 'verdict' || EMISSION_STATES[attempt.state].decided) return null;
  const event = verdictEvent(answer.verdict, { resent: true, mayTryAgain: true });
  if (event === 'refused-as-repeat' || event === 'try-again' || event === 'in-process' || event === 'not-found')
    return null;
  return accepts(attempt, event) ? afterVerdict(attempt, answer.verdict, false, timing) : null;
}

/** The answer to a result query by trackId; null if the document is decided already. */
export function afterResult(
  attempt: Attempt,
  { verdict }: { readonly verdict: AuthorityVerdict },
  timing: Timing,
): Attempt | null {
  if (attempt.state !== 'processing' && attempt.state !== 'not-found') return null;
  if (verdict.status === 'EnProceso') return undecided(attempt, 'in-process', timing, factsOf(verdict));
  if (verdict.status === 'No encontrado') return undecided(attempt, 'not-found', timing, factsOf(verdict));
  // An adopted trackId may belong to any of our copies. A trackId from a receipt belongs to the last send.
  const resent = attempt.lostSends >= (attempt.trackIdAdopted ? 2 : 1);
  return afterVerdict(attempt, verdict, resent, timing);
}

/** The answer to the query for a summary by number and security code. */
export function afterSummaryQuery(attempt: Attempt, answer: Answer<AuthorityVerdict>, timing: Timing): Attempt | null {
  const after = summaryQueryTransition(attempt, answer, timing);
  return after && explained(after, causeOfLookUp(answer));
}

function summaryQueryTransition(attempt: Attempt, answer: Answer<AuthorityVerdict>, timing: Timing): Attempt | null {
  if (!isLookedUp(attempt)) return null;
  if (answer.outcome === 'refused' && answer.code === 'service_not_in_environment')
    return leftToOperator(attempt, timing);
  if (answer.outcome !== 'verdict') return postponed(attempt, timing, pauseOf(answer));
  if (answer.verdict.status === 'No encontrado') return notFound(attempt, timing);
  if (answer.verdict.status === 'EnProceso') return postponed(attempt, timing);
  return afterVerdict(attempt, answer.verdict, false, timing);
}
function afterVerdict(attempt: Attempt, verdict: AuthorityVerdict, resent: boolean, timing: Timing): Attempt {
  const mayTryAgain = accepts(attempt, 'try-again') && attempt.transientRefusals < timing.settings.tryAgainLimit;
  const rejectedBefore = wasRejectedBefore(attempt);
  const stated = verdictEvent(verdict, { resent, mayTryAgain, rejectedBefore });
  const event = accepts(attempt, stated) ? stated : isNumberReusable(verdict) ? 'rejected-reusable' : 'rejected-used';
  const facts = factsOf(verdict);
  if (event === 'outcome-unknown') return sendLost(attempt, timing);
  if (event === 'try-again') {
    const transientRefusals = attempt.transientRefusals + 1;
    return applyTransition(attempt, event, {
      transientRefusals,
      verdict: { ...NO_VERDICT, messages: facts.messages },
      owner: null,
      nextActionAt: later(timing.now, pause(transientRefusals, timing) / 8),
    });
  }
  if (event === 'refused-as-repeat') {
    // The refused copy goes to the history. The copy that arrived is looked up.
    const refused: PastSubmission = { ...pastOf(attempt, facts), state: 'rejected-used' };
    return applyTransition(attempt, event, {
      past: attempt.trackId === null ? attempt.past : addSubmission(attempt.past, refused),
      trackId: null,
      trackIdAdopted: false,
      verdict: NO_VERDICT,
      failures: 0,
      notFoundSince: null,
      owner: null,
      nextActionAt: timing.now,
    });
  }
  return applyTransition(attempt, event, {
    verdict:
      rejectedBefore && isCombinationUsed(verdict) ? { ...facts, messages: [...facts.messages, SIGN_AGAIN] } : facts,
  });
}

/** Whether one of our earlier attempts with the same security code was rejected and left the number of the summary free. */
function wasRejectedBefore({ route, attempt, past, facts: { securityCode } }: Attempt): boolean {
  return (
    route === 'rfce' &&
    past.some((one) => one.attempt < attempt && one.state === 'rejected-reusable' && one.securityCode === securityCode)
  );
}

const SIGN_AGAIN = {
  codigo: GATEWAY_CODE,
  valor:
    'The authority has seen this number with this security code in our earlier attempt, which it rejected. The number is still free: submit the document again, signed at another time.',
};

function factsOf(verdict: AuthorityVerdict): VerdictFacts {
  const { code, messages, sequenceUsed, dateReceived } = verdict;
  return { code, messages, sequenceUsed, dateReceived };
}
