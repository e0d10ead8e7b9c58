import type { Environment } from '@ecf/domain';
import type { SigningCertificate } from '@ecf/xml-signing';
import type { Answer } from '../answers/answer.js';
import type { IssuedToken } from '../answers/verdicts.js';
import type { AuthorityClient } from '../client.js';
import { signSeed } from './sign-seed.js';

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
