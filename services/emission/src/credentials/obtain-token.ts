import type { TokenProvider } from '@ecf/authority-client';
import type { TaxpayerState } from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { EmissionError } from '../errors.js';
import type { Certificates } from './certificates.js';
import type { Taxpayers } from './taxpayers.js';
import { loginFailure } from './token-source.js';

export interface TokenResponse {
  token: string;
  /** Seconds that the authority issues tokens for. A cached one has less left: see `expires_at`. */
  expires_in: number;
  token_type: 'Bearer';
  /** ISO 8601: when this very token ends. */
  expires_at: string;
}

/** A taxpayer and its certificate. */
interface Signer {
  readonly rnc: string;
  readonly certificate: SigningCertificate;
}

/** Source: Descripción Técnica v1.6 p.7. */
const ISSUED_FOR_SECONDS = 3_600;

export type ObtainToken = (request: {
  caller: Caller;
  env: Environment;
  issuerRnc: string | null;
  /** A token that the authority answered with 401. It is removed from the cache first. */
  refused?: string | null;
}) => Promise<TokenResponse>;

/**
 * `GET /obtain_token` and the same operation for other services: the token of a taxpayer, from the cache while it is
 * valid.
 */
export function createObtainToken(
  tokens: TokenProvider,
  taxpayers: Taxpayers,
  certificates: Certificates,
): ObtainToken {
  return async ({ caller, env, issuerRnc, refused }) => {
    const signer =
      issuerRnc === null
        ? firstUsable(await taxpayers.list(caller))
        : theOneOf(await taxpayers.require(caller, issuerRnc));
    try {
      const login = { env, account: caller.accountId, ...signer };
      if (refused) await tokens.invalidate({ ...login, token: refused });
      const { token, expiresAt } = await tokens.get(login);
      return { token, expires_in: ISSUED_FOR_SECONDS, token_type: 'Bearer', expires_at: toIsoDominican(expiresAt) };
    } catch (error) {
      throw loginFailure(error, { unreadableIs502: true });
    }
  };

  function theOneOf(taxpayer: TaxpayerState): Signer {
    if (taxpayer.certificate === null) {
      throw new EmissionError('not_found', `${taxpayer.rnc} has no certificate; upload one in the administration.`);
    }
    return { rnc: taxpayer.rnc, certificate: certificates.stored(taxpayer) };
  }

  /** The oldest taxpayer with a certificate that is valid now. */
  function firstUsable(all: readonly TaxpayerState[]): Signer {
    let refusal: unknown = new EmissionError(
      'not_found',
      'No taxpayer of this account has a certificate; upload one in the administration.',
    );
    for (const taxpayer of all) {
      if (taxpayer.certificate === null || !taxpayer.active) continue;
      try {
        return { rnc: taxpayer.rnc, certificate: certificates.stored(taxpayer) };
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal;
  }
}
