import { type Answer, isUnusable, retryAfterSeconds } from '@ecf/authority-client/answers';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { QueryError } from '../errors.js';
import type { TokenSource } from './ports.js';

/** The taxpayer of a query to the authority. Without `rnc`, the account's oldest one with a valid certificate. */
export interface TokenRequest {
  readonly caller: Caller;
  readonly env: Environment;
  readonly rnc: string | null;
}

/** Queries with a token. If the authority refuses it, queries once more with a fresh one. Throws QueryError without an answer. */
export async function queryWithToken<V>(
  tokens: TokenSource,
  request: TokenRequest,
  query: (token: string) => Promise<Answer<V>>,
): Promise<V> {
  const token = await tokenFor(tokens, request, null);
  const answer = await query(token);
  if (answer.outcome !== 'unauthorized') return verdictOf(answer);
  return verdictOf(await query(await tokenFor(tokens, request, token)));
}

async function tokenFor(tokens: TokenSource, request: TokenRequest, refused: string | null): Promise<string> {
  try {
    const { token } = await tokens.authorityToken({
      env: request.env,
      account_id: request.caller.accountId,
      taxpayers_revision: request.caller.taxpayersRevision,
      taxpayers: request.caller.taxpayers,
      rnc: request.rnc,
      refused,
    });
    return token;
  } catch (error) {
    // Without a taxpayer to log in as, the caller has to upload a certificate: no object of the request is missing.
    if ((error as { code?: unknown }).code !== 'not_found') throw error;
    throw new QueryError(
      'certificate_missing',
      'The authority requires a login, and no certificate for it is stored; upload one in the administration.',
      { cause: error },
    );
  }
}

/** The verdict of an answer. Throws 503 without an answer, and 502 for an unusable one. */
export function verdictOf<V>(answer: Answer<V>): V {
  switch (answer.outcome) {
    case 'verdict':
      return answer.verdict;
    case 'unauthorized':
      throw new QueryError('authority_unreadable', 'The authority refuses the token, also after a fresh login.');
    case 'refused':
      if (answer.code === 'service_not_in_environment')
        throw new QueryError(
          'service_not_in_environment',
          'The authority does not have this service in this environment; use TesteCF or eCF.',
        );
      throw new QueryError('authority_unreadable', `The authority does not answer this query: ${answer.reason}`);
    case 'unknown':
      if (isUnusable(answer))
        throw new QueryError('authority_unreadable', 'The answer of the authority cannot be used; repeat later.');
      throw new QueryError('authority_unreachable', 'The authority does not answer at the moment; repeat later.', {
        retryAfterSeconds: retryAfterSeconds(answer.retryAfterMs),
      });
  }
}
