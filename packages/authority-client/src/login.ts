import type { Environment } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import type { Answer, CallLimit } from './answers/answer.js';
import type { IssuedToken, Seed } from './answers/verdicts.js';
import type { AuthorityClient } from './client.js';

/**
 * - `login_refused`: the authority refuses this certificate (signature, delegation). Another try does not help.
 * - `authority_unreachable`: no answer, a timeout, 5xx, a pause, or a temporary failure that it reported.
 * - `authority_unreadable`: an answer that its login service does not give.
 */
type LoginErrorCode = 'login_refused' | 'authority_unreachable' | 'authority_unreadable';

export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly code: LoginErrorCode;
  readonly retryable: boolean;
  /** The authority's own words, where it gave any. */
  readonly reason: string | null;
  readonly retryAfterMs: number | null;
  /** The authority itself did not answer. Otherwise the cause may be this one certificate. */
  readonly isUnanswered: boolean;
  /** Whom the authority limits (status 429), if that is the cause. */
  readonly limit: CallLimit | null;

  constructor(
    code: LoginErrorCode,
    message: string,
    details: { reason?: string; retryAfterMs?: number; isUnanswered?: boolean; limit?: CallLimit } = {},
  ) {
    super(message);
    this.code = code;
    this.retryable = code !== 'login_refused';
    this.reason = details.reason ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.isUnanswered = details.isUnanswered ?? false;
    this.limit = details.limit ?? null;
  }
}

/** The seed as a signed document. It came pretty-printed; it is signed compact, as its canonical form must be sent. */
export async function signSeed(seed: Seed, certificate: SigningCertificate): Promise<string> {
  const written = writeXml({ SemillaModel: { valor: seed.value, fecha: seed.date } });
  return (await signXml(written, certificate)).xml;
}

/**
 * Seed, signature, token: one login at the authority (contract section 2).
 *
 * @param taxpayer RNC of the taxpayer in whose name the certificate logs in
 */
export async function logIn(
  client: Pick<AuthorityClient, 'requestSeed' | 'validateSeed'>,
  env: Environment,
  certificate: SigningCertificate,
  taxpayer?: string,
): Promise<Answer<IssuedToken>> {
  const seed = await client.requestSeed({ env, taxpayer });
  if (seed.outcome !== 'verdict') return seed;
  const signedSeed = await signSeed(seed.verdict, certificate);
  return client.validateSeed({ env, signedSeed, taxpayer });
}

/**
 * Calls the authority with a token. If it refuses the token, calls once more with a fresh one.
 * @throws LoginError
 */
export async function callWithToken<R extends object, V>(
  tokens: {
    get(request: R): Promise<{ token: string }>;
    invalidate(refused: NoInfer<R> & { token: string }): Promise<void>;
  },
  request: R,
  call: (token: string) => Promise<Answer<V>>,
): Promise<Answer<V>> {
  const { token } = await tokens.get(request);
  const answer = await call(token);
  if (answer.outcome !== 'unauthorized') return answer;
  await tokens.invalidate({ ...request, token });
  return call((await tokens.get(request)).token);
}
