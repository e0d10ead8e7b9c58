import { type EmissionState, toIsoDominican } from '@ecf/domain';
import type { Queries } from '@ecf/service-kit/postgres';
import type { Attempt, PastSubmission, VerdictFacts } from './attempt.js';
import { copiesOf, isHistoryComplete } from './submission-history.js';

/** Attempts of an emission ($1) before attempt $2, each with its own earlier copies. */
const EARLIER = {
  name: 'emission_earlier_attempts',
  text: `SELECT t.attempt, t.state, t.track_id, t.verdict, t.submitted_at, t.facts ->> 'securityCode' AS security_code, (
      SELECT coalesce(json_agg(p.entry ORDER BY p.position), '[]') FROM json_array_elements(t.past) WITH ORDINALITY AS p(entry, position)
       WHERE (p.entry ->> 'attempt')::int = t.attempt) AS past
    FROM attempt t WHERE t.emission_id = $1 AND t.attempt < $2 ORDER BY t.attempt`,
};

interface EarlierRow {
  attempt: number;
  state: EmissionState;
  track_id: string | null;
  verdict: VerdictFacts;
  submitted_at: Date | null;
  security_code: string;
  past: PastSubmission[];
}

/** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
export async function submissionHistory(queries: Queries, attempt: Attempt): Promise<readonly PastSubmission[]> {
  if (isHistoryComplete(attempt.past)) return attempt.past;
  const { rows } = await queries.query<EarlierRow>(EARLIER, [attempt.emissionId, attempt.attempt]);
  return [...rows.flatMap((row) => [...copiesOf(row), submissionOf(row)]), ...copiesOf(attempt)];
}

function submissionOf({ attempt, state, track_id, verdict, submitted_at, security_code }: EarlierRow): PastSubmission {
  const submittedAt = submitted_at === null ? null : toIsoDominican(submitted_at);
  return { ...verdict, attempt, trackId: track_id, submittedAt, state, securityCode: security_code };
}
