import type { Attempt } from '../attempt/attempt.js';
import { claim } from '../attempt/record-transition.js';
import { givenToken, refuseExpiredToken } from '../credentials/token-source.js';
import { EmissionError } from '../errors.js';
import type { FollowUp } from '../sending/follow-up.js';
import { type AwaitPorts, awaitSend, queryResultOnce } from './await-verdict.js';

/**
 * Takes the next step of an undecided attempt with the token of a repeat: queries its result, looks a lost send up, or sends.
 * So a document reaches its end also if no certificate is stored.
 */
export type ResumeSigned = (attempt: Attempt, token: string, signal?: AbortSignal) => Promise<Attempt>;

export function createResumeSigned(ports: AwaitPorts, followUp: FollowUp): ResumeSigned {
  return async (found, token, signal) => {
    const attempt = await awaitSend(ports, found, signal);
    if (attempt.state === 'processing' && attempt.trackId !== null) {
      return queryResultOnce(ports, attempt, attempt.trackId, givenToken(token));
    }
    const waits = ['committed', 'resend-due', 'unknown', 'arrived'].includes(attempt.state);
    if (!waits || attempt.owner !== null) return attempt;
    refuseExpiredToken(token, ports.clock());
    const claimed = await claim(ports, attempt);
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
    'The authority refuses the token in x-token. Nothing was submitted and the number is free: get a new token from /obtain_token and repeat.',
  );
}
