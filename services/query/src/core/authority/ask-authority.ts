import type { Answer } from '@ecf/authority-client';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { QueryError } from '../errors.js';
import type { TokenSource } from '../ports.js';

/** On whose behalf the authority is asked. Without `rnc`, for the account's oldest taxpayer with a valid certificate. */
export interface TokenRequest {
  readonly caller: Caller;
  readonly env: Environment;
  readonly rnc: string | null;
}

/** Asks with a token; where the authority refuses it, once more with a fresh one. Throws QueryError unless it answers. */
export async function askWithToken<V>(
  tokens: TokenSource,
  request: TokenRequest,
  ask: (token: string) => Promise<Answer<V>>,
): Promise<V> {
  const token = await tokenFor(tokens, request, null);
  const answer = await ask(token);
  if (answer.outcome !== 'unauthorized') return verdictOf(answer);
  return verdictOf(await ask(await tokenFor(tokens, request, token)));
}

async function tokenFor(tokens: TokenSource, request: TokenRequest, refused: string | null): Promise<string> {
  try {
    const { token } = await tokens.authorityToken({
      env: request.env,
      account_id: request.caller.accountId,
      taxpayers_revision: request.caller.taxpayersRevision,
      rnc: request.rnc,
      refused,
    });
    return token;
  } catch (error) {
    // Nobody to log in as: here that is no missing object of the caller's, but a certificate that has to be uploaded.
    if ((error as { code?: unknown }).code !== 'not_found') throw error;
    throw new QueryError(
      'certificate_missing',
      'The authority answers only who logs in, and no certificate for that is stored; upload one in the administration.',
      { cause: error },
    );
  }
}

/** The verdict of an answer, or why there is none: nothing came (503), or nothing that can be used (502). */
export function verdictOf<V>(answer: Answer<V>): V {
  switch (answer.outcome) {
    case 'verdict':
      return answer.verdict;
    case 'unauthorized':
      throw new QueryError(
        'authority_unreadable',
        'The authority refuses what it was asked with, a fresh login included.',
      );
    case 'refused':
      if (answer.code === 'service_not_in_environment')
        throw new QueryError('service_not_in_environment', 'The authority has no such service in this environment.');
      throw new QueryError('authority_unreadable', `The authority does not answer this question: ${answer.reason}`);
    case 'unknown': {
      const unreadable = ['not_a_verdict', 'another_document', 'too_large', 'redirect'].includes(answer.cause);
      if (unreadable)
        throw new QueryError(
          'authority_unreadable',
          'The authority answered something that cannot be used; repeat later.',
        );
      const { retryAfterMs } = answer;
      throw new QueryError('authority_unreachable', 'The authority does not answer at the moment; repeat later.', {
        retryAfterSeconds: retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000)),
      });
    }
  }
}
