import type { Answer, TrackIdList } from '@ecf/authority-client';
import { LoginError } from '@ecf/authority-client/login';
import { EMISSION_STATES, type WaitingCause } from '@ecf/domain';
import { type AlarmKind, type Attempt, isBeingSent, nameOf } from '../attempt/attempt.js';
import { afterSummaryQuery } from '../attempt/authority-answers.js';
import { afterLookUp, stateIsNeeded } from '../attempt/look-up.js';
import { exchange, reportOtherDocument } from '../attempt/recorder.js';
import { hasEnded, isHistoryComplete, presentState } from '../attempt/submission-history.js';
import {
  accepts,
  afterReference,
  backInQueue,
  explained,
  postponed,
  sendLost,
  supersededUnsent,
  undecided,
} from '../attempt/transitions.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { SendingPorts } from './ports.js';
import type { SendAttempt } from './send-attempt.js';

export interface FollowUp {
  /**
   * Takes the next step of an attempt that this instance leased: looks a lost send up, sends, or raises the alarm that it is
   * overdue. The status poller queries results. Resolves with the attempt without a lease.
   *
   * @param tokens a caller's token; without it, tokens of a certificate that this service holds
   */
  advance(attempt: Attempt, tokens?: TokenSource): Promise<Attempt>;
}

export function createFollowUp(
  { emissions, recorder, authority, contingency, runs, archive, observer, clock, checkpoint }: SendingPorts,
  sendAttempt: SendAttempt,
  documentTokens: DocumentTokens,
): FollowUp {
  return {
    async advance(attempt, tokens) {
      if (isBeingSent(attempt)) return noteLostSend(attempt);
      if (await isSuperseded(attempt)) return withdraw(attempt);
      switch (attempt.state) {
        case 'held':
          return release(attempt);
        case 'processing':
        case 'not-found':
          return noteOverdue(attempt);
        case 'committed':
        case 'resend-due':
          return withToken(attempt, tokens, send);
        case 'unknown':
        case 'arrived':
          return withToken(attempt, tokens, attempt.route === 'ecf' ? lookDocumentUp : lookSummaryUp);
        default:
          return attempt;
      }
    },
  };

  /** The sender ended without recording an answer: the authority may have the document. */
  function noteLostSend(attempt: Attempt): Promise<Attempt> {
    return recorder.record(attempt, (present) =>
      isBeingSent(present) ? explained(sendLost(present, recorder.timing()), 'no-answer') : null,
    );
  }

  /** Whether a later certification run began before the document was sent: what is sent now would count in that run. */
  async function isSuperseded(attempt: Attempt): Promise<boolean> {
    const { env, issuerRnc, run } = attempt;
    return env !== 'eCF' && accepts(attempt, 'withdraw') && run < (await runs.present({ env, issuerRnc }));
  }

  function withdraw(attempt: Attempt): Promise<Attempt> {
    return recorder.record(attempt, (present) => (accepts(present, 'withdraw') ? supersededUnsent(present) : null));
  }

  /** A held document is sent when the document it refers to is accepted, and withdrawn when that one is refused. */
  async function release(attempt: Attempt): Promise<Attempt> {
    const [, issuerRnc, encf] = (attempt.modifies ?? '').split(':') as [string, string, string];
    const original = await emissions.find({ env: attempt.env, run: attempt.run, issuerRnc, encf });
    const facts = original === null ? null : EMISSION_STATES[original.state];
    const isAccepted = facts === null || facts.status === 'Aceptado' || facts.status === 'AceptadoCondicional';
    // Another document took the number, so the one that the note refers to was rejected.
    const isReplaced = original !== null && original.attempt > (attempt.modifiedAttempt ?? original.attempt);
    if (facts !== null && !facts.decided && !isReplaced) return postpone(attempt);
    const reason = `${encf} was not accepted, so this document was not sent; its number is free`;
    return recorder.record(attempt, (present) =>
      present.state === 'held' ? afterReference(present, isAccepted && !isReplaced, recorder.timing(), reason) : null,
    );
  }

  function noteOverdue(attempt: Attempt): Promise<Attempt> {
    return recorder.record(attempt, (present) =>
      present.revision === attempt.revision ? undecided(present, null, recorder.timing()) : null,
    );
  }

  /** Takes a step that calls the authority; postpones it without a token. */
  async function withToken(
    attempt: Attempt,
    given: TokenSource | undefined,
    step: (attempt: Attempt, token: string, tokens: TokenSource) => Promise<Attempt>,
  ): Promise<Attempt> {
    const tokens = given ?? (await documentTokens(attempt));
    if (tokens === null) return postpone(attempt, 'no-certificate');
    let token: string;
    try {
      token = await tokens.get();
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      if (attempt.queuedAt && error.isUnanswered) {
        await contingency.unreached(attempt);
        return recorder.record(attempt, (present) =>
          present.revision === attempt.revision ? backInQueue(postponed(present, recorder.timing())) : null,
        );
      }
      // The login may fail for this taxpayer alone, so the documents of others are sent first.
      if (attempt.queuedAt) await contingency.answered(attempt, clock());
      return postpone(attempt, undefined, error);
    }
    return step(attempt, token, tokens);
  }

  async function send(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const file = attempt.route === 'rfce' ? attempt.rfce : attempt.xml;
    let bytes: Buffer;
    try {
      if (file === null) throw new Error(`${attempt.encf} goes as a summary and has none`);
      bytes = await archive.get(file.path, file.sha256);
    } catch (error) {
      observer.failed('reading a document to send', error, attempt);
      return postpone(attempt, 'document-lost');
    }
    const sending = await recorder.claimSend(attempt);
    // After a concurrent change, the other request sends the document or found that it must not be sent.
    if (sending === null) return presentState(attempt, await emissions.find(attempt));
    await checkpoint('resend-committed');
    return sendAttempt(sending, bytes, token, tokens);
  }

  /** Queries the trackIds of a full document whose send has no answer, and its state if they do not decide. */
  async function lookDocumentUp(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const query = { ...nameOf(attempt), token };
    const answer = await authority.queryTrackIds(query);
    const exchanges = [exchange('queryTrackIds', clock(), answer)];
    const trackIds = await withoutEarlier(attempt, answer);
    const { buyer_rnc } = attempt.facts.summary;
    const state = stateIsNeeded(attempt, trackIds, recorder.timing())
      ? await authority.queryState({
          ...query,
          securityCode: attempt.facts.securityCode,
          ...(buyer_rnc === null ? {} : { buyerRnc: buyer_rnc }),
        })
      : null;
    if (state !== null) exchanges.push(exchange('queryState', clock(), state));
    for (const each of [answer, state]) reportOtherDocument(observer, each, attempt);
    if (trackIds.outcome === 'unauthorized' || state?.outcome === 'unauthorized') await tokens.refused(token);
    await checkpoint('looked-up');
    const decide = (present: Attempt) => afterLookUp(present, { trackIds, state }, recorder.timing());
    return recorder.recordAnswer(attempt, decide, exchanges);
  }

  /** Removes the trackIds of other runs and of submissions that have ended, including submissions not kept with the attempt. */
  async function withoutEarlier(attempt: Attempt, answer: Answer<TrackIdList>): Promise<Answer<TrackIdList>> {
    if (answer.outcome !== 'verdict') return answer;
    const ofOthers = attempt.env === 'eCF' ? [] : await runs.trackIdsOfOthers(attempt);
    if (ofOthers.length === 0 && isHistoryComplete(attempt.past)) return answer;
    const history = await emissions.submissionHistory(attempt);
    const ended = history.filter((one) => hasEnded(one, attempt));
    const earlier = new Set([...ofOthers, ...ended.map(({ trackId }) => trackId)]);
    const trackIds = answer.verdict.trackIds.filter(({ trackId }) => !earlier.has(trackId));
    return { ...answer, verdict: { ...answer.verdict, trackIds } };
  }

  async function lookSummaryUp(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const { securityCode } = attempt.facts;
    const answer = await authority.queryConsumerSummary({ ...nameOf(attempt), token, securityCode });
    reportOtherDocument(observer, answer, attempt);
    if (answer.outcome === 'unauthorized') await tokens.refused(token);
    await checkpoint('looked-up');
    const decide = (present: Attempt) => afterSummaryQuery(present, answer, recorder.timing());
    return recorder.recordAnswer(attempt, decide, [exchange('queryConsumerSummary', clock(), answer)]);
  }

  async function postpone(attempt: Attempt, alarm?: AlarmKind, login: LoginError | null = null): Promise<Attempt> {
    const pauseMs = login?.retryAfterMs ?? null;
    const after = await recorder.record(attempt, (present) =>
      present.revision === attempt.revision
        ? explained(postponed(present, recorder.timing(), pauseMs, alarm), login && causeOfLogin(login))
        : null,
    );
    // It failed because of its own content, so it did not probe the authority. Its later tries delay no other document.
    if (attempt.queuedAt && attempt.failures === 0) await contingency.probeNow(attempt, clock());
    return after;
  }
}

function causeOfLogin({ limit, isUnanswered }: LoginError): WaitingCause {
  if (limit !== null) return `${limit}-limited`;
  return isUnanswered ? 'no-answer' : 'odd-answer';
}
