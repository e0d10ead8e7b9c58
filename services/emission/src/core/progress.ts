/**
 * How an attempt moves on: pure functions from what was observed to what is stored. Every move goes through the life
 * cycle of the domain, so that a state cannot be left except as its table says.
 */
import type {
  Answer,
  AuthorityVerdict,
  DocumentState,
  SubmissionReceipt,
  TrackIdEntry,
  TrackIdList,
} from '@ecf/authority-client';
import {
  canTransition,
  EMISSION_STATES,
  type EmissionEvent,
  type EmissionState,
  goesToBuyer,
  isNumberReusable,
  toIsoDominican,
  transition,
  verdictEvent,
} from '@ecf/domain';
import { type AlarmKind, type Attempt, NO_VERDICT, type PastSubmission, type VerdictFacts } from './attempt.js';
import { noteSubmission } from './past-submissions.js';
import { OVERDUE_MS, pollDelay, type Random, retryDelay } from './retry-schedule.js';

export interface FollowUpSettings {
  /** Milliseconds from a first failure to the next try, at most 4,000 so that it comes within five seconds. */
  readonly firstRetryMs: number;
  /** Milliseconds between the two answers "not found" that allow the same bytes to be sent again. */
  readonly resendAfterMs: number;
  /** Milliseconds from a submission to the first question for its result. */
  readonly firstQueryMs: number;
  /** Whether results are asked for here; else the status poller tells them. */
  readonly queriesResults: boolean;
  /** Times that a summary answered with 004 is sent again. */
  readonly tryAgainLimit: number;
}

/** The moment something is judged at. */
export interface Moment {
  readonly now: Date;
  readonly random: Random;
  readonly settings: FollowUpSettings;
}

type Changes = Partial<
  Pick<
    Attempt,
    | 'trackId'
    | 'trackIdAdopted'
    | 'statusRevision'
    | 'verdict'
    | 'submittedAt'
    | 'lostSends'
    | 'transientRefusals'
    | 'notFoundSince'
    | 'failures'
    | 'nextActionAt'
    | 'owner'
    | 'alarm'
    | 'past'
  >
>;

/** A certificate that came along is kept for as long as somebody has to log in with it: to deliver what was accepted. */
function keepsCertificate({ hasOwnCertificate, ecfType, route, facts }: Attempt, state: EmissionState): boolean {
  const accepted = state === 'accepted' || state === 'conditional';
  return hasOwnCertificate && accepted && goesToBuyer({ ecfType, route, buyerRnc: facts.summary.buyer_rnc });
}

/** The attempt after an event and changes; the revision counts it. Throws TransitionError for a move that does not exist. */
export function moved(attempt: Attempt, event: EmissionEvent | null, changes: Changes): Attempt {
  const state = event === null ? attempt.state : transition(attempt.state, event);
  const decided = EMISSION_STATES[state].decided;
  const over = { nextActionAt: null, owner: null, alarm: null, failures: 0 };
  return {
    ...attempt,
    ...changes,
    ...(decided ? { ...over, hasOwnCertificate: keepsCertificate(attempt, state) } : {}),
    state,
    revision: attempt.revision + 1,
  };
}

/** The first byte is about to leave, under the care of `owner`, who is given up on after `leaseMs`. */
export function beginSend(attempt: Attempt, moment: Moment, owner: string, leaseMs: number): Attempt {
  return moved(attempt, 'send', {
    owner,
    submittedAt: moment.now,
    nextActionAt: later(moment.now, leaseMs),
  });
}

/** Nothing changed for the document; it is looked at again after a pause. */
export function postponed(attempt: Attempt, moment: Moment, pauseMs: number | null = null, alarm?: AlarmKind): Attempt {
  const failures = attempt.failures + 1;
  const ms = Math.max(pause(failures, moment), pauseMs ?? 0);
  return moved(attempt, null, {
    failures,
    owner: null,
    nextActionAt: later(moment.now, ms),
    alarm: alarm ?? overdue(attempt, moment) ?? attempt.alarm,
  });
}

/** Nobody can find out by asking: only a person can decide. Work stops until then. */
export function leftToOperator(attempt: Attempt): Attempt {
  return moved(attempt, null, { owner: null, nextActionAt: null, alarm: 'cannot-ask' });
}

/** A send whose process ended, or whose answer was none: the authority may have the document. */
export function sendLost(attempt: Attempt, moment: Moment): Attempt {
  const failures = attempt.failures + 1;
  return moved(attempt, 'outcome-unknown', {
    lostSends: attempt.lostSends + 1,
    notFoundSince: null,
    failures,
    owner: null,
    nextActionAt: later(moment.now, pause(failures, moment)),
    alarm: overdue(attempt, moment) ?? attempt.alarm,
  });
}

/** A send that certainly did not reach the authority. */
export function sendNotReached(attempt: Attempt, moment: Moment, pauseMs: number | null = null): Attempt {
  const failures = attempt.failures + 1;
  return moved(attempt, 'not-reached', {
    failures,
    owner: null,
    nextActionAt: later(moment.now, Math.max(pause(failures, moment), pauseMs ?? 0)),
    alarm: overdue(attempt, moment) ?? attempt.alarm,
  });
}

/** The authority refused the caller's token: nothing was taken. Without an earlier copy under way the number is free. */
export function tokenRefused(attempt: Attempt, moment: Moment): Attempt {
  return moved(attempt, 'unauthorized', { owner: null, nextActionAt: moment.now });
}

/** The answer of reception to a full document; null when it comes too late to matter. */
export function afterReceipt(attempt: Attempt, answer: Answer<SubmissionReceipt>, moment: Moment): Attempt | null {
  if (!isUnderWay(attempt)) return afterLateReceipt(attempt, answer, moment);
  switch (answer.outcome) {
    case 'verdict':
      if (answer.verdict.trackId !== null) return inProcess(attempt, answer.verdict.trackId, false, moment);
      // Refused at the door: no trackId, so nothing was taken. It is no verdict on the document either.
      return {
        ...sendNotReached(attempt, moment),
        verdict: { ...attempt.verdict, messages: answer.verdict.messages },
      };
    case 'unauthorized':
    case 'refused':
      return sendNotReached(attempt, moment);
    case 'unknown':
      return answer.reachedAuthority === 'no'
        ? sendNotReached(attempt, moment, answer.retryAfterMs ?? null)
        : sendLost(attempt, moment);
  }
}

/** The verdict on a consumer summary, given at once; null when it comes too late to matter. */
export function afterSummary(attempt: Attempt, answer: Answer<AuthorityVerdict>, moment: Moment): Attempt | null {
  if (!isUnderWay(attempt)) return afterLateSummary(attempt, answer, moment);
  switch (answer.outcome) {
    case 'verdict': {
      const { status } = answer.verdict;
      if (status === 'EnProceso' || status === 'No encontrado') return sendLost(attempt, moment);
      return afterVerdict(attempt, answer.verdict, attempt.lostSends >= 1, moment);
    }
    case 'unauthorized':
    case 'refused':
      return sendNotReached(attempt, moment);
    case 'unknown':
      return answer.reachedAuthority === 'no'
        ? sendNotReached(attempt, moment, answer.retryAfterMs ?? null)
        : sendLost(attempt, moment);
  }
}

/** A receipt for a send that was given up on: its trackId counts where none is known yet, and is noted in any case. */
function afterLateReceipt(attempt: Attempt, answer: Answer<SubmissionReceipt>, moment: Moment): Attempt | null {
  const trackId = answer.outcome === 'verdict' ? answer.verdict.trackId : null;
  if (trackId === null || trackId === attempt.trackId) return null;
  if (attempt.trackId === null && accepts(attempt, 'in-process')) return inProcess(attempt, trackId, true, moment);
  if (attempt.past.some((past) => past.trackId === trackId)) return null;
  const copy: PastSubmission = { ...pastOf(attempt, NO_VERDICT), trackId };
  return moved(attempt, null, { past: noteSubmission(attempt.past, copy) });
}

/** A verdict for a send that was given up on: it is a verdict all the same, except that of a repeat. */
function afterLateSummary(attempt: Attempt, answer: Answer<AuthorityVerdict>, moment: Moment): Attempt | null {
  if (answer.outcome !== 'verdict' || EMISSION_STATES[attempt.state].decided) return null;
  const event = verdictEvent(answer.verdict, { resent: true, mayTryAgain: true });
  if (event === 'refused-as-repeat' || event === 'try-again' || event === 'in-process' || event === 'not-found')
    return null;
  return accepts(attempt, event) ? afterVerdict(attempt, answer.verdict, false, moment) : null;
}

function isUnderWay({ state }: Attempt): boolean {
  return state === 'sending' || state === 'resending';
}

/** The answer to the question for the result by trackId; null when the document is decided already. */
export function afterResult(attempt: Attempt, answer: Answer<AuthorityVerdict>, moment: Moment): Attempt | null {
  if (attempt.state !== 'processing' && attempt.state !== 'not-found') return null;
  if (answer.outcome !== 'verdict') return postponed(attempt, moment, pauseOf(answer));
  const verdict = answer.verdict;
  if (verdict.status === 'EnProceso' || verdict.status === 'No encontrado') {
    const event = verdict.status === 'EnProceso' ? 'in-process' : 'not-found';
    const failures = attempt.failures + 1;
    return moved(attempt, event, {
      failures,
      owner: null,
      verdict: factsOf(verdict),
      nextActionAt: nextQuery(moment, failures),
      alarm: overdue(attempt, moment) ?? attempt.alarm,
    });
  }
  // A copy that was found by asking may be any of ours; the answer to a send is surely that send.
  const resent = attempt.lostSends >= (attempt.trackIdAdopted ? 2 : 1);
  return afterVerdict(attempt, verdict, resent, moment);
}

/** The answer to the question for a summary by number and security code. */
export function afterSummaryQuery(attempt: Attempt, answer: Answer<AuthorityVerdict>, moment: Moment): Attempt | null {
  if (!isLookedUp(attempt)) return null;
  if (answer.outcome === 'refused' && answer.code === 'service_not_in_environment') return leftToOperator(attempt);
  if (answer.outcome !== 'verdict') return postponed(attempt, moment, pauseOf(answer));
  if (answer.verdict.status === 'No encontrado') return notFound(attempt, moment);
  if (answer.verdict.status === 'EnProceso') return postponed(attempt, moment);
  return afterVerdict(attempt, answer.verdict, false, moment);
}

/** What asking for a lost full document brought. */
export interface LookUp {
  readonly trackIds: Answer<TrackIdList>;
  /** The state by our own security code; null when it was not asked, see {@link stateIsNeeded}. */
  readonly state: Answer<DocumentState> | null;
}

/** The authority names the day of receipt alone, and its clock and ours may differ by an hour. */
const RECEIVED_LATEST_MS = 25 * 3_600_000;

/** Received on a day before the attempt was made: of another system, which used the number first. */
function receivedBefore(attempt: Attempt, { dateReceived }: TrackIdEntry): boolean {
  return dateReceived !== null && Date.parse(dateReceived) + RECEIVED_LATEST_MS < attempt.committedAt.getTime();
}

/**
 * trackIds under the number that may be the attempt's, best candidate first: those that no earlier submission of ours is
 * known to have, and that were not received before it was made. Those of earlier submissions that do not stand with the
 * attempt must have been left out of the list.
 */
export function unknownTrackIds(attempt: Attempt, list: TrackIdList): TrackIdEntry[] {
  const known = new Set(attempt.past.map(({ trackId }) => trackId));
  const rank = { Aceptado: 0, AceptadoCondicional: 0, EnProceso: 1, 'No encontrado': 3, Rechazado: 2 } as const;
  return (
    list.trackIds
      .filter((entry) => !known.has(entry.trackId) && !receivedBefore(attempt, entry))
      // Ours was sent last: of the same standing the latest comes first.
      .reverse()
      .sort(
        (one, other) =>
          rank[one.status] - rank[other.status] || (other.dateReceived ?? '').localeCompare(one.dateReceived ?? ''),
      )
  );
}

/**
 * Whether the trackIds alone do not decide: a decided document under the number, whatever the decision, may have come from
 * another system, which its security code tells; and before bytes go out again the second service is asked as well.
 */
export function stateIsNeeded(attempt: Attempt, trackIds: Answer<TrackIdList>, moment: Moment): boolean {
  if (trackIds.outcome !== 'verdict') return false;
  const [candidate] = unknownTrackIds(attempt, trackIds.verdict);
  if (candidate !== undefined) return candidate.status !== 'EnProceso';
  return attempt.state === 'unknown' && waitedLongEnough(attempt, moment);
}

/** The answers to the questions for a full document whose trackId never arrived. */
export function afterLookUp(attempt: Attempt, { trackIds, state }: LookUp, moment: Moment): Attempt | null {
  if (!isLookedUp(attempt)) return null;
  if (trackIds.outcome === 'refused' && trackIds.code === 'service_not_in_environment') return leftToOperator(attempt);
  if (trackIds.outcome !== 'verdict') return postponed(attempt, moment, pauseOf(trackIds));
  if (state !== null && (state.outcome === 'unknown' || state.outcome === 'unauthorized')) {
    return postponed(attempt, moment, pauseOf(state));
  }
  const known = state?.outcome === 'verdict' ? state.verdict : null;
  const candidates = unknownTrackIds(attempt, trackIds.verdict);
  if (candidates.length > 0) {
    if (!areForeign(attempt, candidates, known)) {
      const ours = candidateOf(candidates, known);
      return ours === undefined ? postponed(attempt, moment) : inProcess(attempt, ours.trackId, true, moment);
    }
    const refused = attempt.past.at(-1);
    if (attempt.state === 'arrived' && refused !== undefined && known !== null && isForeign(attempt, known)) {
      // The number belongs to a document that is not ours, so the refusal of our copy was its verdict.
      return moved(attempt, 'rejected-used', {
        verdict: refused,
        trackId: refused.trackId,
        past: attempt.past.slice(0, -1),
      });
    }
    return notFound(attempt, moment);
  }
  // Known by its data, listed under no trackId yet: it arrived, so nothing is sent.
  if (known !== null && known.status !== 'No encontrado') return postponed(attempt, moment);
  return notFound(attempt, moment);
}

function isLookedUp({ state }: Attempt): boolean {
  return state === 'unknown' || state === 'arrived';
}

/**
 * Whether the state query tells that none of the candidates is the attempt's. A rejected document counts as never received,
 * so that after one of our copies arrived it does not have to be known by its data.
 */
function areForeign(attempt: Attempt, [best]: readonly TrackIdEntry[], known: DocumentState | null): boolean {
  if (known === null) return false;
  if (known.status !== 'No encontrado') return isForeign(attempt, known);
  return attempt.state !== 'arrived' || best?.status !== 'Rechazado';
}

/** The candidate that stands as our document does; undefined where that one is not listed yet. */
function candidateOf(candidates: readonly TrackIdEntry[], known: DocumentState | null): TrackIdEntry | undefined {
  if (known === null || known.status === 'No encontrado') return candidates[0];
  const rejected = known.status === 'Rechazado';
  const decided = candidates.filter(({ status }) => status !== 'EnProceso');
  const alike = decided.find(({ status }) => (status === 'Rechazado') === rejected);
  return alike ?? candidates.find(({ status }) => status === 'EnProceso');
}

function isForeign(attempt: Attempt, known: DocumentState): boolean {
  return known.securityCode !== null && known.securityCode !== attempt.facts.securityCode;
}

/** A document that was held for another may go, or never will. */
export function afterReference(attempt: Attempt, accepted: boolean, moment: Moment, reason: string): Attempt {
  if (accepted) return moved(attempt, 'release', { owner: null, nextActionAt: moment.now });
  return moved(attempt, 'withdraw', {
    verdict: { ...NO_VERDICT, messages: [{ codigo: '', valor: reason }] },
  });
}

/** An operator, or two answers "not found", allow the same bytes to be sent again. */
export function clearedToResend(attempt: Attempt, moment: Moment): Attempt {
  return moved(attempt, 'cleared-to-resend', {
    past: attempt.trackId === null ? attempt.past : noteSubmission(attempt.past, pastOf(attempt)),
    trackId: null,
    trackIdAdopted: false,
    verdict: NO_VERDICT,
    notFoundSince: null,
    failures: 0,
    owner: null,
    alarm: lasting(attempt.alarm),
    nextActionAt: moment.now,
  });
}

/** A trackId was given or found. */
export function inProcess(attempt: Attempt, trackId: string, adopted: boolean, moment: Moment): Attempt {
  return moved(attempt, 'in-process', {
    trackId,
    trackIdAdopted: adopted,
    statusRevision: 0,
    verdict: { ...NO_VERDICT, code: '3' },
    failures: 0,
    notFoundSince: null,
    owner: null,
    alarm: lasting(attempt.alarm),
    nextActionAt: adopted && moment.settings.queriesResults ? moment.now : nextQuery(moment, 0),
  });
}

/** Whether the state of the attempt still waits for what `event` says. */
export function accepts(attempt: Attempt, event: EmissionEvent): boolean {
  return canTransition(attempt.state, event);
}

/** The attempt as an entry among submissions that are over. */
export function pastOf(attempt: Attempt, facts: VerdictFacts = attempt.verdict): PastSubmission {
  return {
    ...facts,
    attempt: attempt.attempt,
    trackId: attempt.trackId,
    submittedAt: attempt.submittedAt === null ? null : toIsoDominican(attempt.submittedAt),
    state: attempt.state,
  };
}

function afterVerdict(attempt: Attempt, verdict: AuthorityVerdict, resent: boolean, moment: Moment): Attempt {
  const mayTryAgain = accepts(attempt, 'try-again') && attempt.transientRefusals < moment.settings.tryAgainLimit;
  const told = verdictEvent(verdict, { resent, mayTryAgain });
  const event = accepts(attempt, told) ? told : isNumberReusable(verdict) ? 'rejected-reusable' : 'rejected-used';
  const facts = factsOf(verdict);
  if (event === 'outcome-unknown') return sendLost(attempt, moment);
  if (event === 'try-again') {
    const transientRefusals = attempt.transientRefusals + 1;
    return moved(attempt, event, {
      transientRefusals,
      verdict: { ...NO_VERDICT, messages: facts.messages },
      owner: null,
      nextActionAt: later(moment.now, pause(transientRefusals, moment) / 8),
    });
  }
  if (event === 'refused-as-repeat') {
    // The refused copy is noted among the past submissions; the copy that arrived is looked for.
    const refused: PastSubmission = { ...pastOf(attempt, facts), state: 'rejected-used' };
    return moved(attempt, event, {
      past: attempt.trackId === null ? attempt.past : noteSubmission(attempt.past, refused),
      trackId: null,
      trackIdAdopted: false,
      verdict: NO_VERDICT,
      failures: 0,
      notFoundSince: null,
      owner: null,
      nextActionAt: moment.now,
    });
  }
  return moved(attempt, event, { verdict: facts });
}

function notFound(attempt: Attempt, moment: Moment): Attempt {
  const { now, settings } = moment;
  if (attempt.state === 'unknown' && waitedLongEnough(attempt, moment)) return clearedToResend(attempt, moment);
  const failures = attempt.failures + 1;
  const notFoundSince = attempt.notFoundSince ?? now;
  const allowedAt = notFoundSince.getTime() + settings.resendAfterMs;
  const ms = pause(failures, moment);
  return moved(attempt, 'not-found', {
    failures,
    notFoundSince,
    owner: null,
    // Not later than the moment at which a second answer would allow the resend.
    nextActionAt: new Date(
      attempt.state === 'unknown'
        ? Math.min(now.getTime() + ms, Math.max(allowedAt, now.getTime()))
        : now.getTime() + ms,
    ),
    alarm: overdue(attempt, moment) ?? attempt.alarm,
  });
}

function waitedLongEnough(attempt: Attempt, { now, settings }: Moment): boolean {
  return attempt.notFoundSince !== null && now.getTime() - attempt.notFoundSince.getTime() >= settings.resendAfterMs;
}

function factsOf(verdict: AuthorityVerdict): VerdictFacts {
  const { code, messages, sequenceUsed, dateReceived } = verdict;
  return { code, messages, sequenceUsed, dateReceived };
}

function overdue(attempt: Attempt, { now }: Moment): AlarmKind | null {
  return attempt.alarm === null && now.getTime() - attempt.committedAt.getTime() > OVERDUE_MS ? 'overdue' : null;
}

/** Age is told once and stands until the document is decided; every other alarm ends with what caused it. */
function lasting(alarm: AlarmKind | null): AlarmKind | null {
  return alarm === 'overdue' ? alarm : null;
}

function pauseOf(answer: Answer<unknown>): number | null {
  return answer.outcome === 'unknown' ? (answer.retryAfterMs ?? null) : null;
}

function pause(failures: number, { random, settings }: Moment): number {
  return retryDelay(failures, settings.firstRetryMs, random);
}

function nextQuery({ now, random, settings }: Moment, asked: number): Date | null {
  return settings.queriesResults ? later(now, pollDelay(asked, settings.firstQueryMs, random)) : null;
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/** Whether others have to learn of the change: all but a new schedule, another owner, another count. */
export function tellsMore(before: Attempt, after: Attempt): boolean {
  return (
    before.state !== after.state ||
    before.trackId !== after.trackId ||
    before.verdict !== after.verdict ||
    before.past !== after.past
  );
}
