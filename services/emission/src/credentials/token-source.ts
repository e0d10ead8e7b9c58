import type { TokenProvider } from '@ecf/authority-client';
import { retryAfterSeconds } from '@ecf/authority-client/answers';
import { LoginError } from '@ecf/authority-client/login';
import { type Environment, toIsoDominican } from '@ecf/domain';
import type { SigningCertificate } from '@ecf/xml-signing';
import { EmissionError } from '../errors.js';

/** A source of tokens for the calls about one document. */
export interface TokenSource {
  /** @throws LoginError */
  get(): Promise<string>;
  /** The authority answered 401 to this token. True when `get` may now bring another one. */
  refused(token: string): Promise<boolean>;
  /** The caller brought the token, so the caller has to replace it after a 401. */
  readonly given: boolean;
}

/** Tokens of a certificate that this service holds. */
export function certificateTokens(
  tokens: TokenProvider,
  request: { env: Environment; account: string; rnc: string; certificate: SigningCertificate },
): TokenSource {
  return {
    given: false,
    get: async () => (await tokens.get(request)).token,
    async refused(token) {
      await tokens.invalidate({ ...request, token });
      return true;
    },
  };
}

/** The token of a caller, which remembers a refusal. */
export interface GivenToken extends TokenSource {
  /** The authority answered 401 to it. */
  wasRefused(): boolean;
}

/** The token of the header x-token. */
export function givenToken(token: string): GivenToken {
  let refused = false;
  return {
    given: true,
    get: async () => token,
    async refused() {
      refused = true;
      return false;
    },
    wasRefused: () => refused,
  };
}

/**
 * A failed login before anything was signed, as an error for the caller. 401 if the authority refuses the certificate; 502
 * for an unusable answer if `unreadableIs502` is set; else 503, with the end of maintenance that the authority announced.
 */
export function loginFailure(
  error: unknown,
  {
    unreadableIs502 = false,
    maintenanceUntil = null,
  }: { unreadableIs502?: boolean; maintenanceUntil?: Date | null } = {},
): unknown {
  if (!(error instanceof LoginError)) return error;
  const retry = { retryAfterSeconds: retryAfterSeconds(error.retryAfterMs) };
  if (error.limit !== null && retry.retryAfterSeconds !== undefined)
    return new EmissionError(
      'authority_unreachable',
      `The authority limits the logins of ${error.limit === 'taxpayer' ? 'this taxpayer' : 'all taxpayers'} at present (status 429); no document was signed and no number was used. Repeat after ${retry.retryAfterSeconds} seconds (Retry-After).`,
      { cause: error, ...retry },
    );
  switch (error.code) {
    case 'login_refused':
      return new EmissionError(
        'login_refused',
        `The authority refuses the login with this certificate${error.reason ? `: ${error.reason}` : ''}. No document was signed and no number was used.`,
        { cause: error },
      );
    case 'authority_unreadable':
      if (unreadableIs502) {
        return new EmissionError(
          'authority_unreadable',
          'The answer of the authority to the login cannot be used; repeat later.',
          {
            cause: error,
          },
        );
      }
      return new EmissionError(
        'authority_unreachable',
        'The answer of the authority to the login cannot be used; no document was signed and no number was used. Repeat later.',
        { cause: error, ...retry },
      );
    case 'authority_unreachable':
      return new EmissionError(
        'authority_unreachable',
        `The authority's login cannot be reached; no document was signed and no number was used. ${repeatWhen(maintenanceUntil)}`,
        { cause: error, ...retry },
      );
  }
}

function repeatWhen(maintenanceUntil: Date | null): string {
  if (maintenanceUntil === null) return 'Repeat later.';
  return `It announced maintenance until ${toIsoDominican(maintenanceUntil)}; repeat then.`;
}

const CLOCK_SKEW_MS = 60_000;

/**
 * Refuses a token whose claim `exp` has passed, before anything is stored. For any other text, the authority decides.
 * Source: Descripción Técnica v1.6 p.7, p.54.
 */
export function refuseExpiredToken(token: string, now: Date): void {
  const expires = claimedExpiry(token);
  if (expires !== null && expires + CLOCK_SKEW_MS < now.getTime()) {
    throw new EmissionError(
      'invalid_token',
      'The token in x-token has expired. The document was not submitted: get a new token from /obtain_token and repeat.',
    );
  }
}

/** Milliseconds since 1970, or null if the token states no time. */
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
