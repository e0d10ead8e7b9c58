import { EmissionError } from '../errors.js';

const CLOCK_SKEW_MS = 60_000;

/**
 * Refuses a token that says itself that it has expired, before anything is stored. Tokens of the authority are JWT with a
 * claim `exp`; whatever else the text is, the authority decides. Source: Descripción Técnica v1.6 p.7, p.54.
 */
export function refuseExpiredToken(token: string, now: Date): void {
  const expires = claimedExpiry(token);
  if (expires !== null && expires + CLOCK_SKEW_MS < now.getTime()) {
    throw new EmissionError(
      'invalid_token',
      'The token in x-token has expired. Nothing was submitted: get a new one from /obtain_token and repeat.',
    );
  }
}

/** Milliseconds since 1970, or null where the token says nothing. */
function claimedExpiry(token: string): number | null {
  const [, payload] = token.split('.');
  if (payload === undefined) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : null;
  } catch {
    return null;
  }
}
