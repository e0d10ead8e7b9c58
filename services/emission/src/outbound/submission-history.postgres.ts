import { type EmissionState, toIsoDominican } from '@ecf/domain';
import type { Queries } from '@ecf/service-kit/postgres';
import type { Attempt, PastSubmission, VerdictFacts } from '../core/attempt/attempt.js';
import { copiesOf, isWholePast } from '../core/attempt/submission-history.js';

/** Earlier attempts of an emission ($1) before the one ($2), each with the copies of it that were over before it was. */
const EARLIER = {
  name: 'emission_earlier_attempts',
  text: `SELECT t.attempt, t.state, t.track_id, t.verdict, t.submitted_at, (
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
  past: PastSubmission[];
}

/** Every submission of the attempt's number that is over, oldest first, also those that do not stand with the attempt. */
export async function wholePast(queries: Queries, attempt: Attempt): Promise<readonly PastSubmission[]> {
  if (isWholePast(attempt.past)) return attempt.past;
  const { rows } = await queries.query<EarlierRow>(EARLIER, [attempt.emissionId, attempt.attempt]);
  return [...rows.flatMap((row) => [...copiesOf(row), submissionOf(row)]), ...copiesOf(attempt)];
}

function submissionOf({ attempt, state, track_id, verdict, submitted_at }: EarlierRow): PastSubmission {
  const submittedAt = submitted_at === null ? null : toIsoDominican(submitted_at);
  return { ...verdict, attempt, trackId: track_id, submittedAt, state };
}
