import type { TokenProvider } from '@ecf/authority-client';
import { requestCertificate } from '@ecf/kit';
import type { SigningCertificate } from '@ecf/xml-signing';
import { type Attempt, type DocumentKey, documentKey } from '../attempt/attempt.js';
import type { EmissionStore, Observer } from '../attempt/ports.js';
import { EmissionError } from '../errors.js';
import type { Certificates } from './certificates.js';
import type { Taxpayers } from './taxpayers.js';
import { certificateTokens, loginFailure, type TokenSource } from './token-source.js';

/**
 * Tokens for following a document up: of the certificate that came with it while that is valid, else of the stored
 * one. Null if there is neither. Documents of inactive taxpayers are followed up too.
 */
export type DocumentTokens = (attempt: Attempt) => Promise<TokenSource | null>;

export function createDocumentTokens({
  emissions,
  observer,
  clock,
  tokens,
  taxpayers,
  certificates,
}: {
  readonly emissions: Pick<EmissionStore, 'sealedCertificate'>;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly tokens: TokenProvider;
  readonly taxpayers: Pick<Taxpayers, 'lastKnown'>;
  readonly certificates: Certificates;
}): DocumentTokens {
  return async (attempt) => {
    const certificate = (await sentAlong(attempt)) ?? (await stored(attempt));
    if (certificate === null) return null;
    const { env, accountId: account, issuerRnc: rnc } = attempt;
    return certificateTokens(tokens, { env, account, rnc, certificate });
  };

  /** The certificate that came with the document, while it is kept and valid. */
  async function sentAlong(attempt: Attempt): Promise<SigningCertificate | null> {
    if (!attempt.hasOwnCertificate) return null;
    const sealed = await emissions.sealedCertificate(attempt);
    if (sealed === null) return null;
    try {
      const certificate = certificates.unsealed(sealed, requestCertificate(attempt.accountId, attempt.issuerRnc));
      return certificate.notAfter > clock() ? certificate : null;
    } catch (error) {
      observer.failed('opening the certificate of a document', error, attempt);
      return null;
    }
  }

  async function stored({ issuerRnc, accountId }: Attempt): Promise<SigningCertificate | null> {
    const taxpayer = await taxpayers.lastKnown(issuerRnc);
    if (taxpayer === null || taxpayer.account_id !== accountId) return null;
    try {
      return certificates.stored(taxpayer);
    } catch {
      return null;
    }
  }
}

/** A token to query the authority about one of our documents. `refused` is removed from the cache first. */
export type DocumentToken = (key: DocumentKey, refused: string | null) => Promise<string>;

export function createDocumentToken(emissions: Pick<EmissionStore, 'find'>, tokensOf: DocumentTokens): DocumentToken {
  return async (key, refused) => {
    const attempt = await emissions.find(key);
    if (attempt === null) throw new EmissionError('not_found', `No document was issued under ${documentKey(key)}.`);
    const tokens = await tokensOf(attempt);
    if (tokens === null) {
      throw new EmissionError(
        'certificate_missing',
        `${key.issuerRnc} has no certificate that can be used; upload one in the administration.`,
      );
    }
    try {
      if (refused !== null) await tokens.refused(refused);
      return await tokens.get();
    } catch (error) {
      throw loginFailure(error);
    }
  };
}
