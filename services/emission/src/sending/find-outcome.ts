import type { Answer, TrackIdList } from '@ecf/authority-client';
import { type Attempt, nameOf } from '../attempt/attempt.js';
import { afterSummaryQuery } from '../attempt/authority-answers.js';
import { afterLookUp, stateIsNeeded } from '../attempt/look-up.js';
import { exchange, reportOtherDocument } from '../attempt/recorder.js';
import { isHistoryComplete } from '../attempt/submission-history.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { SendingPorts } from './ports.js';

/** Queries the authority for the outcome of a lost send, and records the answer. */
export type FindOutcome = (attempt: Attempt, token: string, tokens: TokenSource) => Promise<Attempt>;

export function createFindOutcome({
  emissions,
  recorder,
  authority,
  runs,
  observer,
  clock,
  checkpoint,
}: SendingPorts): FindOutcome {
  return (attempt, token, tokens) =>
    attempt.route === 'ecf' ? queryDocument(attempt, token, tokens) : querySummary(attempt, token, tokens);

  async function queryDocument(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const query = { ...nameOf(attempt), token };
    const answer = await authority.queryTrackIds(query);
    const exchanges = [exchange('queryTrackIds', clock(), answer)];
    const trackIds = await withoutEarlier(attempt, answer);
    const { buyer_rnc } = attempt.facts.summary;
    const state = stateIsNeeded(attempt, trackIds, recorder.moment())
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
    const decide = (present: Attempt) => afterLookUp(present, { trackIds, state }, recorder.moment());
    return recorder.recordAnswer(attempt, decide, exchanges);
  }

  /** Removes the trackIds of other runs and of earlier submissions, including submissions not kept with the attempt. */
  async function withoutEarlier(attempt: Attempt, answer: Answer<TrackIdList>): Promise<Answer<TrackIdList>> {
    if (answer.outcome !== 'verdict') return answer;
    const ofOthers = attempt.env === 'eCF' ? [] : await runs.trackIdsOfOthers(attempt);
    if (ofOthers.length === 0 && isHistoryComplete(attempt.past)) return answer;
    const history = await emissions.submissionHistory(attempt);
    const earlier = new Set([...ofOthers, ...history.map(({ trackId }) => trackId)]);
    const trackIds = answer.verdict.trackIds.filter(({ trackId }) => !earlier.has(trackId));
    return { ...answer, verdict: { ...answer.verdict, trackIds } };
  }

  async function querySummary(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const { securityCode } = attempt.facts;
    const answer = await authority.queryConsumerSummary({ ...nameOf(attempt), token, securityCode });
    reportOtherDocument(observer, answer, attempt);
    if (answer.outcome === 'unauthorized') await tokens.refused(token);
    await checkpoint('looked-up');
    const decide = (present: Attempt) => afterSummaryQuery(present, answer, recorder.moment());
    const exchanges = [exchange('queryConsumerSummary', clock(), answer)];
    return recorder.recordAnswer(attempt, decide, exchanges);
  }
}
