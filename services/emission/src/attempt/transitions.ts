// State transitions of an attempt. Each function makes one and returns the attempt to store. All go through the life
// cycle of the domain, which refuses transitions that its table does not have.
import type { Answer } from '@ecf/authority-client';
import {
  canTransition,
  EMISSION_STATES,
  type EmissionEvent,
  type EmissionState,
  GATEWAY_CODE,
  goesToBuyer,
  retryDelay,
  toIsoDominican,
  transition,
  type WaitingCause,
  waitingMessage,
} from '@ecf/domain';
import {
  type AlarmKind,
  type Attempt,
  type NewAttempt,
  NO_VERDICT,
  type PastSubmission,
  type VerdictFacts,
} from './attempt.js';
import { addSubmission, withoutSubmission } from './submission-history.js';

export interface FollowUpSettings {
  /** Milliseconds from a first failure to the next try, at most 4,000 so that it comes within five seconds. */
  readonly firstRetryMs: number;
  /** Milliseconds between the two answers "not found" that allow the same bytes to be sent again. */
  readonly resendAfterMs: number;
  /** Times that a summary answered with 004 is sent again. */
  readonly tryAgainLimit: number;
}

/** When a decision is made, and the settings by which it sets the next due time. */
export interface Timing {
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
    | 'queuedAt'
  >
>;

/** A certificate of the request is kept while it is needed for a login: to deliver an accepted document. */
function keepsCertificate({ hasOwnCertificate, ecfType, route, facts }: Attempt, state: EmissionState): boolean {
  const accepted = state === 'accepted' || state === 'conditional';
  return hasOwnCertificate && accepted && goesToBuyer({ ecfType, route, buyerRnc: facts.summary.buyer_rnc });
}

/** States of a document that certainly did not reach the authority, or is being sent. */
const NOT_ARRIVED: ReadonlySet<EmissionState> = new Set(['committed', 'sending', 'resend-due']);

/** The attempt after an event and changes, with the next revision. Throws TransitionError for an unknown transition. */
export function applyTransition(attempt: Attempt, event: EmissionEvent | null, changes: Changes): Attempt {
  const state = event === null ? attempt.state : transition(attempt.state, event);
  const decided = EMISSION_STATES[state].decided;
  const over = { nextActionAt: null, owner: null, alarm: null, failures: 0 };
  return {
    ...attempt,
    ...changes,
    // A document that the authority may have leaves the contingency queue.
    ...(NOT_ARRIVED.has(state) ? {} : { queuedAt: null }),
    ...(decided ? { ...over, hasOwnCertificate: keepsCertificate(attempt, state) } : {}),
    state,
    revision: attempt.revision + 1,
  };
}

/** A send is about to begin. The attempt is leased to `owner` for `leaseMs`. */
export function beginSend(attempt: Attempt, timing: Timing, owner: string, leaseMs: number): Attempt {
  return applyTransition(attempt, 'send', {
    // Clear the waiting message.
    ...(attempt.contingencySince ? { verdict: NO_VERDICT } : {}),
    owner,
    submittedAt: timing.now,
    nextActionAt: later(timing.now, leaseMs),
    alarm: overdue(attempt, timing) ?? attempt.alarm,
  });
}

/** Nothing changed for the document. It is due again after a pause. */
export function postponed(attempt: Attempt, timing: Timing, pauseMs: number | null = null, alarm?: AlarmKind): Attempt {
  const failures = attempt.failures + 1;
  const ms = Math.max(pause(failures, timing), pauseMs ?? 0);
  return applyTransition(attempt, null, {
    failures,
    owner: null,
    nextActionAt: later(timing.now, ms),
    alarm: overdue(attempt, timing) ?? lasting(attempt.alarm) ?? alarm ?? attempt.alarm,
  });
}

/** The authority could not be reached. The contingency queue decides when the document is sent. */
export function backInQueue(attempt: Attempt): Attempt {
  return attempt.queuedAt ? { ...attempt, nextActionAt: null } : attempt;
}

/** Why a document still waits after the answer to a call about it. */
export function causeOf(answer: Answer<unknown>): WaitingCause {
  if (answer.outcome !== 'unknown') return 'odd-answer';
  const limit = answer.limit ?? (answer.cause === 'rate_limited' ? 'taxpayer' : null);
  if (limit !== null) return `${limit}-limited`;
  return answer.raw === null ? 'no-answer' : 'odd-answer';
}

/** Why a document still waits after a query for the outcome of its lost send. A usable answer leaves that send unanswered. */
export function causeOfLookUp(answer: Answer<unknown>): WaitingCause {
  return answer.outcome === 'verdict' ? 'no-answer' : causeOf(answer);
}

/** States of a document that waits for its own next try, not for another service. */
const WAITS_FOR_TRY: ReadonlySet<EmissionState> = new Set(['committed', 'unknown', 'resend-due', 'arrived']);

/** The attempt with the entry of the gateway that says why it waits and until when; without one if it does not wait. */
export function explained(attempt: Attempt, cause: WaitingCause | null): Attempt {
  const { verdict, nextActionAt, state, alarm } = attempt;
  // Nothing of an earlier wait is left in the verdict of a decided document.
  if (EMISSION_STATES[state].decided) return attempt;
  const others = verdict.messages.filter(({ codigo }) => codigo !== GATEWAY_CODE);
  const waits = WAITS_FOR_TRY.has(state) && nextActionAt !== null;
  if (cause !== null && waits) {
    const entry = waitingMessage(cause, alarm === 'no-query' ? null : nextActionAt);
    return { ...attempt, verdict: { ...verdict, messages: [...others, entry] } };
  }
  return others.length === verdict.messages.length
    ? attempt
    : { ...attempt, verdict: { ...verdict, messages: others } };
}

/** No query can find the outcome, so a person decides. The attempt is next due when it is overdue. */
export function leftToOperator(attempt: Attempt, timing: Timing): Attempt {
  const alarm = overdue(attempt, timing) ?? lasting(attempt.alarm) ?? 'no-query';
  return applyTransition(attempt, null, dueWhenOverdue(attempt, alarm, timing));
}

/** A send without an answer, or whose process ended: the authority may have the document. */
export function sendLost(attempt: Attempt, timing: Timing): Attempt {
  const failures = attempt.failures + 1;
  return applyTransition(attempt, 'outcome-unknown', {
    lostSends: attempt.lostSends + 1,
    notFoundSince: null,
    failures,
    owner: null,
    nextActionAt: later(timing.now, pause(failures, timing)),
    alarm: overdue(attempt, timing) ?? attempt.alarm,
  });
}

/** The send certainly did not reach the authority. */
export function sendNotTaken(attempt: Attempt, timing: Timing, pauseMs: number | null = null): Attempt {
  const failures = attempt.failures + 1;
  return applyTransition(attempt, 'not-reached', {
    failures,
    owner: null,
    nextActionAt: later(timing.now, Math.max(pause(failures, timing), pauseMs ?? 0)),
    alarm: overdue(attempt, timing) ?? attempt.alarm,
  });
}

/**
 * The authority refused the caller's token, so it did not take the document. Without an earlier copy in flight, the
 * document is withdrawn and the number is free.
 */
export function tokenRefused(attempt: Attempt, timing: Timing): Attempt {
  const refused = applyTransition(attempt, 'unauthorized', { owner: null, nextActionAt: timing.now });
  if (refused.state !== 'withdrawn') return refused;
  return {
    ...refused,
    verdict: ownMessage(
      'The authority refused the token in x-token, so it did not take this document; its number is free',
    ),
  };
}

/** The referenced document is decided: the held document is released or withdrawn. */
export function afterReference(attempt: Attempt, accepted: boolean, timing: Timing, reason: string): Attempt {
  if (accepted)
    return applyTransition(attempt, 'release', { owner: null, nextActionAt: timing.now, verdict: NO_VERDICT });
  return applyTransition(attempt, 'withdraw', { verdict: ownMessage(reason) });
}

/** The authority restarted the certification set before the document was sent, so it would count in the new run. */
export function supersededUnsent(attempt: Attempt): Attempt {
  return applyTransition(attempt, 'withdraw', {
    verdict: ownMessage(
      `A later certification run began before this document of run ${attempt.run} reached the authority, so it is not sent`,
    ),
  });
}

/** Our own message, without a verdict of the authority. */
function ownMessage(valor: string): Attempt['verdict'] {
  return { ...NO_VERDICT, messages: [{ codigo: '', valor }] };
}

/** An operator, or two answers "not found", allow a resend of the same bytes. */
export function clearedToResend(attempt: Attempt, timing: Timing): Attempt {
  return applyTransition(attempt, 'cleared-to-resend', {
    past: attempt.trackId === null ? attempt.past : addSubmission(attempt.past, pastOf(attempt)),
    // The authority may still have the copy that it does not find under its trackId. An adopted trackId is of a send that counts already.
    lostSends: attempt.lostSends + (attempt.trackId === null || attempt.trackIdAdopted ? 0 : 1),
    trackId: null,
    trackIdAdopted: false,
    verdict: NO_VERDICT,
    notFoundSince: null,
    failures: 0,
    owner: null,
    alarm: lasting(attempt.alarm),
    nextActionAt: timing.now,
  });
}

/** A trackId was given or found. The status poller queries the result. */
export function inProcess(attempt: Attempt, trackId: string, adopted: boolean, timing: Timing): Attempt {
  return applyTransition(attempt, 'in-process', {
    trackId,
    trackIdAdopted: adopted,
    past: withoutSubmission(attempt.past, trackId),
    statusRevision: 0,
    verdict: { ...NO_VERDICT, code: '3' },
    failures: 0,
    notFoundSince: null,
    ...dueWhenOverdue(attempt, lasting(attempt.alarm), timing),
  });
}

/** The document is still undecided. The status poller queries its result, so the attempt is next due when it is overdue. */
export function undecided(
  attempt: Attempt,
  event: 'in-process' | 'not-found' | null,
  timing: Timing,
  verdict: VerdictFacts = attempt.verdict,
): Attempt {
  const alarm = overdue(attempt, timing) ?? attempt.alarm;
  return applyTransition(attempt, event, { verdict, ...dueWhenOverdue(attempt, alarm, timing) });
}

/** Whether the state of the attempt has a transition for `event`. */
export function accepts(attempt: Attempt, event: EmissionEvent): boolean {
  return canTransition(attempt.state, event);
}

/** The attempt as an entry of the submission history. */
export function pastOf(attempt: Attempt, facts: VerdictFacts = attempt.verdict): PastSubmission {
  return {
    ...facts,
    attempt: attempt.attempt,
    trackId: attempt.trackId,
    submittedAt: attempt.submittedAt === null ? null : toIsoDominican(attempt.submittedAt),
    state: attempt.state,
    securityCode: attempt.facts.securityCode,
  };
}
/** The authority does not know the document. Two such answers, far enough apart, allow a resend. */
export function notFound(attempt: Attempt, timing: Timing): Attempt {
  const { now, settings } = timing;
  if (attempt.state === 'unknown' && waitedLongEnough(attempt, timing)) return clearedToResend(attempt, timing);
  const failures = attempt.failures + 1;
  // A time in the future was noted by a wrong clock: the wait begins again.
  const notFoundSince = attempt.notFoundSince !== null && attempt.notFoundSince <= now ? attempt.notFoundSince : now;
  const allowedAt = notFoundSince.getTime() + settings.resendAfterMs;
  const ms = pause(failures, timing);
  return applyTransition(attempt, 'not-found', {
    failures,
    notFoundSince,
    owner: null,
    // Not later than the time at which a second answer would allow the resend.
    nextActionAt: new Date(
      attempt.state === 'unknown'
        ? Math.min(now.getTime() + ms, Math.max(allowedAt, now.getTime()))
        : now.getTime() + ms,
    ),
    alarm: overdue(attempt, timing) ?? attempt.alarm,
  });
}

/** Whether the first answer "not found" is old enough for a second one to allow a resend. */
export function waitedLongEnough(attempt: Attempt, { now, settings }: Timing): boolean {
  return attempt.notFoundSince !== null && now.getTime() - attempt.notFoundSince.getTime() >= settings.resendAfterMs;
}

/** The attempt with the alarm that its time limit has passed; null if it has this alarm already or has time left. */
export function foundLate(attempt: Attempt, timing: Timing): Attempt | null {
  const alarm = overdue(attempt, timing);
  return alarm === null ? null : applyTransition(attempt, null, { alarm });
}

/** The alarm of an attempt that has waited too long for its verdict. It is raised once, and replaces any other. */
function overdue(attempt: Attempt, { now }: Timing): AlarmKind | null {
  if (isLate(attempt)) return null;
  const limit = endOf(attempt);
  if (limit === null || now < limit) return null;
  return attempt.contingencySince ? 'contingency-late' : 'overdue';
}

/** The attempt only waits. It is due when it is overdue. The deadline of contingency may still be set meanwhile. */
function dueWhenOverdue(attempt: Attempt, alarm: AlarmKind | null, { now }: Timing): Changes {
  return { owner: null, alarm, nextActionAt: isLate({ alarm }) ? null : (endOf(attempt) ?? later(now, OVERDUE_MS)) };
}

/** When the time limit of the attempt ends; null if it has none yet. */
function endOf(attempt: Attempt): Date | null {
  // The hours of a document that was signed in contingency count from the authority's return.
  return attempt.contingencySince ? (attempt.deadline ?? null) : later(attempt.committedAt, OVERDUE_MS);
}

/** The alarms of time stay until the document is decided. Every other alarm ends with its cause. */
function lasting(alarm: AlarmKind | null): AlarmKind | null {
  return isLate({ alarm }) ? alarm : null;
}

/** Milliseconds that the authority requires us to wait. */
export function pauseOf(answer: Answer<unknown>): number | null {
  return answer.outcome === 'unknown' ? (answer.retryAfterMs ?? null) : null;
}

/** Milliseconds until the next try after a number of failures in a row. */
export function pause(failures: number, { random, settings }: Timing): number {
  return retryDelay(failures, settings.firstRetryMs, random);
}

/** The time `ms` milliseconds after `now`. */
export function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

/** Whether a change is published. A change of schedule, owner or counts alone is not. */
export function changesPublished(before: Attempt, after: Attempt): boolean {
  return (
    before.state !== after.state ||
    before.trackId !== after.trackId ||
    before.verdict !== after.verdict ||
    before.past !== after.past ||
    isLate(before) !== isLate(after)
  );
}

/** Whether the document should have been decided by now. */
export function isLate({ alarm }: Pick<Attempt, 'alarm'>): boolean {
  return alarm === 'overdue' || alarm === 'contingency-late';
}

/** Whether the authority must be queried for the outcome of the attempt. */
export function isLookedUp({ state }: Attempt): boolean {
  return state === 'unknown' || state === 'arrived';
}

/**
 * The attempt as it is committed before the first byte is sent: leased to `owner`, held until the document it
 * refers to is accepted, or in the contingency queue.
 *
 * @param previous the decided attempt before it under the same number; null for the first
 * @param emissionId id for a number that has none yet
 */
export function beginAttempt(
  fresh: NewAttempt,
  previous: Attempt | null,
  emissionId: number,
  timing: Timing,
  {
    owner,
    leaseMs,
    held,
    run = 1,
    maintenanceUntil = null,
    isKnown = false,
    revisionAfter = 0,
  }: {
    owner: string;
    leaseMs: number;
    held: boolean;
    run?: number;
    maintenanceUntil?: Date | null;
    /** The authority has the very same document, so it is looked up and not sent. */
    isKnown?: boolean;
    /** Other services may have seen every revision up to this one under the number. */
    revisionAfter?: number;
  },
): Attempt {
  const committed = previous === null ? 'committed' : transition(previous.state, 'new-attempt');
  // A held note waits for its document first.
  const queued = Boolean(fresh.contingencySince) && !held;
  const begun = queued ? committed : transition(committed, held ? 'hold' : 'send');
  const dueAt = new Date(
    timing.now.getTime() + (held ? retryDelay(1, timing.settings.firstRetryMs, timing.random) : leaseMs),
  );
  return {
    emissionId: previous?.emissionId ?? emissionId,
    run,
    createdAt: previous?.createdAt ?? timing.now,
    committedAt: timing.now,
    attempt: (previous?.attempt ?? 0) + 1,
    revision: Math.max(previous?.revision ?? 0, revisionAfter) + 1,
    state: isKnown ? transition(begun, 'outcome-unknown') : begun,
    trackId: null,
    trackIdAdopted: false,
    statusRevision: 0,
    verdict: held ? waitsForReference(fresh.modifies) : queued ? waitsForAuthority(maintenanceUntil) : NO_VERDICT,
    submittedAt: held || queued ? null : timing.now,
    lostSends: isKnown ? 1 : 0,
    transientRefusals: 0,
    notFoundSince: null,
    failures: 0,
    nextActionAt: queued ? null : dueAt,
    owner: held || queued ? null : owner,
    contingencySince: null,
    deadline: null,
    queuedAt: queued ? fresh.signedAt : null,
    alarm: null,
    past: previous === null ? [] : addSubmission(previous.past, pastOf(previous)),
    // Last, because V8 is slow with objects in which much follows a spread: fifty microseconds here.
    ...fresh,
  };
}

/** The reason why a document waits in the contingency queue, as its message. */
function waitsForAuthority(maintenanceUntil: Date | null): Attempt['verdict'] {
  const announced = maintenanceUntil && `: it announced maintenance until ${toIsoDominican(maintenanceUntil)}`;
  return ownMessage(
    `The authority cannot be reached${announced ?? ''}. The document is signed and stored; the gateway sends it when the authority answers again`,
  );
}

/** The reason why a held document waits, as its message. */
function waitsForReference(modifies: string | null): Attempt['verdict'] {
  const encf = modifies?.split(':').at(-1) ?? 'the document it refers to';
  return ownMessage(
    `Waits until the authority accepts ${encf}; it is sent then. If ${encf} is rejected, it is not sent`,
  );
}

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Past this age an undecided document raises an alarm; work on it continues. Source: contingency rule of 72 hours. */
export const OVERDUE_MS = 72 * 3_600_000;
