import type { Answer, AuthorityVerdict } from '@ecf/authority-client';
import { isUnusable, retryAfterSeconds } from '@ecf/authority-client/answers';
import { LoginError } from '@ecf/authority-client/login';
import { type Attempt, nameOf } from '../attempt/attempt.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import { EmissionError } from '../errors.js';
import type { Authority } from './ports.js';

/** Milliseconds for the whole query, logins included: less than the gateway waits for the answer. */
const TIMEOUT_MS = 15_000;

/**
 * Resolves if the authority confirms that it has the document under `trackId`. A mistyped trackId would bring the
 * verdict on another document.
 *
 * @throws EmissionError `conflict` if the trackId belongs to another document, is unknown or has no number yet; other
 * codes if the query fails
 */
export type ProveSubmission = (attempt: Attempt, trackId: string) => Promise<void>;

export function createProveSubmission(
  authority: Pick<Authority, 'queryResult'>,
  documentTokens: DocumentTokens,
): ProveSubmission {
  return async (attempt, trackId) => {
    const tokens = await documentTokens(attempt);
    if (tokens === null)
      throw new EmissionError(
        'certificate_missing',
        `The authority must be queried about ${trackId}, but ${attempt.issuerRnc} has no usable certificate to log in with; upload one, then repeat. ${UNCHANGED}`,
      );
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const late = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(unanswered(trackId)), { once: true }),
    );
    const query = async () => {
      const token = await Promise.race([tokens.get(), late]);
      const answer = await authority.queryResult({ ...nameOf(attempt), token, trackId, signal });
      const another = answer.outcome === 'unauthorized' && (await tokens.refused(token));
      return { answer, another };
    };
    try {
      const first = await query();
      requireProof((first.another ? await query() : first).answer, attempt, trackId);
    } catch (error) {
      throw error instanceof LoginError ? withoutLogin(error) : error;
    }
  };
}

const UNCHANGED = 'The document was not changed.';

function requireProof(answer: Answer<AuthorityVerdict>, { encf, issuerRnc }: Attempt, trackId: string): void {
  const conflict = (sentence: string) => new EmissionError('conflict', `${sentence} ${UNCHANGED}`);
  switch (answer.outcome) {
    case 'verdict':
      if (answer.verdict.status === 'No encontrado')
        throw conflict(`The authority has no submission under the trackId ${trackId}; check the trackId.`);
      if (answer.verdict.encf === null)
        throw conflict(
          `The authority does not say yet which number the trackId ${trackId} belongs to, so it may be another than ${encf}; repeat in a moment.`,
        );
      return;
    case 'unauthorized':
      throw new EmissionError(
        'authority_unreadable',
        `The authority refuses tokens that it has just issued. ${UNCHANGED}`,
      );
    case 'refused':
      throw new EmissionError(
        'authority_unreadable',
        `The authority does not answer the query for ${trackId}: ${answer.reason}. ${UNCHANGED}`,
      );
    case 'unknown':
      if (answer.cause === 'another_document')
        throw conflict(
          `The trackId ${trackId} does not belong to ${encf} of ${issuerRnc}: ${answer.detail}. Find the right one at the authority, or have the document sent again where there is none.`,
        );
      if (isUnusable(answer))
        throw new EmissionError(
          'authority_unreadable',
          `The authority gave no usable answer to the query for ${trackId}; repeat later. ${UNCHANGED}`,
        );
      throw unanswered(trackId, answer.retryAfterMs);
  }
}

function unanswered(trackId: string, retryAfterMs?: number): EmissionError {
  return new EmissionError(
    'authority_unreachable',
    `The authority does not answer at the moment, so it is unknown which document ${trackId} belongs to; repeat later. ${UNCHANGED}`,
    { retryAfterSeconds: retryAfterSeconds(retryAfterMs) },
  );
}

function withoutLogin(error: LoginError): EmissionError {
  const sentence =
    error.code === 'login_refused'
      ? `The authority refuses the login with the certificate of this document${error.reason ? `: ${error.reason}` : ''}.`
      : 'The answer of the authority to the login cannot be used; repeat later.';
  return new EmissionError(error.code, `${sentence} ${UNCHANGED}`, {
    cause: error,
    retryAfterSeconds: retryAfterSeconds(error.retryAfterMs),
  });
}
