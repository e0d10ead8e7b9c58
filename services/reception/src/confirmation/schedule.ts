const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Time from the acknowledgement to the first query. Many issuers send to the authority and to the buyer at the same time. */
export const FIRST_QUERY_MS = 2 * SECOND;
const FIRST_PAUSE_MS = 5 * SECOND;
/** The longest pause between two queries, in milliseconds. */
export const LONGEST_PAUSE_MS = 2 * HOUR;
/** Longest pause while the authority gives no answer. */
const LONGEST_OUTAGE_PAUSE_MS = 300 * SECOND;
/** Contingency gives an issuer this time to send its documents. */
const QUERIED_MS = 72 * HOUR;

/**
 * Milliseconds to the next query of a document that the authority does not know. Null after 72 hours: pauses count, so time in
 * which the authority gives no answer does not.
 *
 * @param answers how often the authority answered that it does not know the document
 */
export function pauseAfterAnswer(answers: number): number | null {
  let waited = 0;
  for (let past = 1; past < answers; past++) waited += pause(past, LONGEST_PAUSE_MS);
  return waited >= QUERIED_MS ? null : pause(answers, LONGEST_PAUSE_MS);
}

/** Milliseconds to the next query after `failures` queries without an answer. */
export function pauseAfterFailure(failures: number): number {
  return pause(failures, LONGEST_OUTAGE_PAUSE_MS);
}

function pause(count: number, longest: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 20), longest);
}
