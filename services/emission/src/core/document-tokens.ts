import type { SigningCertificate } from '@ecf/xml-signing';
import type { Attempt } from './attempt.js';
import type { Certificates } from './certificates.js';
import type { Ports } from './ports.js';
import type { Taxpayers } from './taxpayers.js';
import { certificateTokens, type TokenSource } from './token-source.js';

/**
 * The tokens to follow a document up with: of the certificate that came with it while that is valid, else of the taxpayer's
 * stored one; null with neither. An inactive taxpayer's documents are followed too.
 */
export type DocumentTokens = (attempt: Attempt) => Promise<TokenSource | null>;

export function createDocumentTokens(
  ports: Pick<Ports, 'emissions' | 'tokens' | 'observer' | 'clock'>,
  taxpayers: Pick<Taxpayers, 'lastKnown'>,
  certificates: Certificates,
): DocumentTokens {
  return async (attempt) => {
    const certificate = (await sentAlong(attempt)) ?? (await stored(attempt));
    if (certificate === null) return null;
    return certificateTokens(ports, { env: attempt.env, account: attempt.accountId, certificate });
  };

  async function sentAlong(attempt: Attempt): Promise<SigningCertificate | null> {
    if (!attempt.hasOwnCertificate) return null;
    const sealed = await ports.emissions.sealedCertificate(attempt);
    if (sealed === null) return null;
    try {
      const certificate = certificates.unsealed(sealed, attempt.issuerRnc);
      return certificate.notAfter > ports.clock() ? certificate : null;
    } catch (error) {
      ports.observer.failed('opening the certificate of a document', error, attempt);
      return null;
    }
  }

  async function stored(attempt: Attempt): Promise<SigningCertificate | null> {
    const taxpayer = await taxpayers.lastKnown(attempt.issuerRnc);
    if (taxpayer === null || taxpayer.account_id !== attempt.accountId) return null;
    try {
      return certificates.stored(taxpayer);
    } catch {
      return null;
    }
  }
}
