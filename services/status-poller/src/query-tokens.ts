import type { FollowUpOperations } from '@ecf/contracts';
import { LRUCache } from 'lru-cache';
import type { Submission } from './submission.js';

/** Milliseconds for which a token serves further queries. Emission gives out only tokens with two minutes left or more. */
const KEPT_MS = 60_000;
const MOST_TOKENS = 10_000;

/**
 * A token for a query about the submission. `refused` is a token that the authority answered with 401.
 *
 * @throws ApiError as emission answers, e.g. `certificate_missing`
 */
export type QueryTokens = (submission: Submission, refused: string | null) => Promise<string>;

/** Tokens from emission. One serves the submissions of a taxpayer and account for a minute. */
export function createQueryTokens(emission: Pick<FollowUpOperations, 'documentToken'>): QueryTokens {
  const kept = new LRUCache<string, string>({ max: MOST_TOKENS, ttl: KEPT_MS });
  return async ({ env, accountId, issuerRnc, encf, trackId }, refused) => {
    const key = `${env}:${accountId}:${issuerRnc}`;
    const known = kept.get(key);
    if (known !== undefined && known !== refused) return known;
    const { token } = await emission.documentToken({ env, issuer_rnc: issuerRnc, encf, track_id: trackId, refused });
    kept.set(key, token);
    return token;
  };
}
