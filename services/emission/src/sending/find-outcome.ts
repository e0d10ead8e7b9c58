import type { Answer, TrackIdList } from '@ecf/authority-client';
import { type Attempt, nameOf } from '../attempt/attempt.js';
import { afterSummaryQuery } from '../attempt/authority-answers.js';
import { afterLookUp, stateIsNeeded } from '../attempt/look-up.js';
import { type AnswerPorts, exchange, moment, recordAnswer, reportOtherDocument } from '../attempt/record-transition.js';
import { isHistoryComplete } from '../attempt/submission-history.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { Ports } from '../ports.js';

/** Queries the authority for the outcome of a lost send, and records the answer. */
export type FindOutcome = (attempt: Attempt, token: string, tokens: TokenSource) => Promise<Attempt>;

export function createFindOutcome(ports: AnswerPorts & Pick<Ports, 'authority' | 'runs' | 'checkpoint'>): FindOutcome {
  return (attempt, token, tokens) =>
    attempt.route === 'ecf' ? queryDocument(attempt, token, tokens) : querySummary(attempt, token, tokens);

  async function queryDocument(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const query = { ...nameOf(attempt), token };
    const answer = await ports.authority.queryTrackIds(query);
    const exchanges = [exchange('queryTrackIds', ports.clock(), answer)];
    const trackIds = await withoutEarlier(attempt, answer);
    const { buyer_rnc } = attempt.facts.summary;
    const state = stateIsNeeded(attempt, trackIds, moment(ports))
      ? await ports.authority.queryState({
          ...query,
          securityCode: attempt.facts.securityCode,
          ...(buyer_rnc === null ? {} : { buyerRnc: buyer_rnc }),
        })
      : null;
    if (state !== null) exchanges.push(exchange('queryState', ports.clock(), state));
    for (const each of [answer, state]) reportOtherDocument(ports, each, attempt);
    if (trackIds.outcome === 'unauthorized' || state?.outcome === 'unauthorized') await tokens.refused(token);
    await ports.checkpoint('looked-up');
    const decide = (present: Attempt) => afterLookUp(present, { trackIds, state }, moment(ports));
    return recordAnswer(ports, attempt, decide, exchanges);
  }

  /** Removes the trackIds of earlier submissions, also of those that are not kept with the attempt, and of other runs. */
  async function withoutEarlier(attempt: Attempt, answer: Answer<TrackIdList>): Promise<Answer<TrackIdList>> {
    if (answer.outcome !== 'verdict') return answer;
    const ofOthers = attempt.env === 'eCF' ? [] : await ports.runs.trackIdsOfOthers(attempt);
    if (ofOthers.length === 0 && isHistoryComplete(attempt.past)) return answer;
    const history = await ports.emissions.submissionHistory(attempt);
    const earlier = new Set([...ofOthers, ...history.map(({ trackId }) => trackId)]);
    const trackIds = answer.verdict.trackIds.filter(({ trackId }) => !earlier.has(trackId));
    return { ...answer, verdict: { ...answer.verdict, trackIds } };
  }

  async function querySummary(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const { securityCode } = attempt.facts;
    const answer = await ports.authority.queryConsumerSummary({ ...nameOf(attempt), token, securityCode });
    reportOtherDocument(ports, answer, attempt);
    if (answer.outcome === 'unauthorized') await tokens.refused(token);
    await ports.checkpoint('looked-up');
    const decide = (present: Attempt) => afterSummaryQuery(present, answer, moment(ports));
    const exchanges = [exchange('queryConsumerSummary', ports.clock(), answer)];
    return recordAnswer(ports, attempt, decide, exchanges);
  }
}
