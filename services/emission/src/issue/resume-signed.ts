import type { Attempt } from '../attempt/attempt.js';
import type { Recorder } from '../attempt/recorder.js';
import { givenToken, refuseExpiredToken } from '../credentials/token-source.js';
import { EmissionError } from '../errors.js';
import type { FollowUp } from '../sending/follow-up.js';
import type { Waits } from './await-verdict.js';

/**
 * Takes the next step of an undecided attempt with the token of a repeat: queries its result, looks a lost send up, or sends.
 * So a document reaches its end also if no certificate is stored.
 */
export type ResumeSigned = (attempt: Attempt, token: string, signal?: AbortSignal) => Promise<Attempt>;

export function createResumeSigned(
  waits: Waits,
  recorder: Recorder,
  followUp: FollowUp,
  clock: () => Date,
): ResumeSigned {
  return async (found, token, signal) => {
    const attempt = await waits.send(found, signal);
    if (attempt.state === 'processing' && attempt.trackId !== null) {
      return waits.queryOnce(attempt, attempt.trackId, givenToken(token));
    }
    const isDue = ['committed', 'resend-due', 'unknown', 'arrived'].includes(attempt.state);
    if (!isDue || attempt.owner !== null) return attempt;
    refuseExpiredToken(token, clock());
    const claimed = await recorder.claim(attempt);
    if (claimed === null) return attempt;
    const tokens = givenToken(token);
    const advanced = await followUp.advance(claimed, tokens);
    if (tokens.wasRefused()) throw advanced.state === 'withdrawn' ? withdrawnForItsToken() : refusedOnTheWay(advanced);
    return advanced;
  };
}

/** An earlier send may have reached the authority, so the document stays undecided. */
function refusedOnTheWay({ encf }: Attempt): EmissionError {
  return new EmissionError(
    'invalid_token',
    `The authority refuses the token in x-token. ${encf} stays in progress from an earlier send: get a new token from /obtain_token and repeat the same bytes.`,
  );
}

/** The authority refused the token and has no copy of the document: the number is free. */
export function withdrawnForItsToken(): EmissionError {
  return new EmissionError(
    'invalid_token',
    'The authority refuses the token in x-token. The document was not submitted and its number is free: get a new token from /obtain_token and repeat.',
  );
}
