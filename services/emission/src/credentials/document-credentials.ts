import { requestCertificate } from '@ecf/service-kit/security';
import type { SigningCertificate } from '@ecf/xml-signing';
import { type Attempt, type DocumentKey, documentKey } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';
import type { Certificates } from './certificates.js';
import type { Taxpayers } from './taxpayers.js';
import { certificateTokens, loginFailure, type TokenSource } from './token-source.js';

/** Certificates that act for a document after its request is over. */
export interface DocumentCertificates {
  /** The certificate that came with the document, while it is kept and valid. */
  sentAlong(attempt: Attempt): Promise<SigningCertificate | null>;
  /** The taxpayer's stored certificate, if it is valid now; also of an inactive taxpayer. */
  stored(attempt: Attempt): Promise<SigningCertificate | null>;
}

export function createDocumentCertificates(
  ports: Pick<Ports, 'emissions' | 'observer' | 'clock'>,
  taxpayers: Pick<Taxpayers, 'lastKnown'>,
  certificates: Certificates,
): DocumentCertificates {
  return {
    async sentAlong(attempt) {
      if (!attempt.hasOwnCertificate) return null;
      const sealed = await ports.emissions.sealedCertificate(attempt);
      if (sealed === null) return null;
      try {
        const certificate = certificates.unsealed(sealed, requestCertificate(attempt.accountId, attempt.issuerRnc));
        return certificate.notAfter > ports.clock() ? certificate : null;
      } catch (error) {
        ports.observer.failed('opening the certificate of a document', error, attempt);
        return null;
      }
    },
    async stored(attempt) {
      const taxpayer = await taxpayers.lastKnown(attempt.issuerRnc);
      if (taxpayer === null || taxpayer.account_id !== attempt.accountId) return null;
      try {
        return certificates.stored(taxpayer);
      } catch {
        return null;
      }
    },
  };
}

/** A token to query the authority about one of our documents. `refused` is removed from the cache first. */
export type DocumentToken = (key: DocumentKey, refused: string | null) => Promise<string>;

export function createDocumentToken(ports: Pick<Ports, 'emissions'>, tokensOf: DocumentTokens): DocumentToken {
  return async (key, refused) => {
    const attempt = await ports.emissions.find(key);
    if (attempt === null) throw new EmissionError('not_found', `Nothing was issued under ${documentKey(key)}.`);
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

/**
 * Tokens for following a document up: of the certificate that came with it while that is valid, else of the stored
 * one. Null if there is neither. Documents of inactive taxpayers are followed up too.
 */
export type DocumentTokens = (attempt: Attempt) => Promise<TokenSource | null>;

export function createDocumentTokens(ports: Pick<Ports, 'tokens'>, certificates: DocumentCertificates): DocumentTokens {
  return async (attempt) => {
    const certificate = (await certificates.sentAlong(attempt)) ?? (await certificates.stored(attempt));
    if (certificate === null) return null;
    return certificateTokens(ports, {
      env: attempt.env,
      account: attempt.accountId,
      rnc: attempt.issuerRnc,
      certificate,
    });
  };
}
