import type { Attempt } from '../attempt/attempt.js';
import type { Ports } from '../ports.js';
import type { DocumentCertificates } from './document-certificates.js';
import { certificateTokens, type TokenSource } from './token-source.js';

/**
 * The tokens to follow a document up with: of the certificate that came with it while that is valid, else of the taxpayer's
 * stored one; null with neither. An inactive taxpayer's documents are followed too.
 */
export type DocumentTokens = (attempt: Attempt) => Promise<TokenSource | null>;

export function createDocumentTokens(ports: Pick<Ports, 'tokens'>, certificates: DocumentCertificates): DocumentTokens {
  return async (attempt) => {
    const certificate = (await certificates.sentAlong(attempt)) ?? (await certificates.stored(attempt));
    if (certificate === null) return null;
    return certificateTokens(ports, { env: attempt.env, account: attempt.accountId, certificate });
  };
}
