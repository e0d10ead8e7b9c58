import { type DocumentKey, documentKey } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';
import type { DocumentTokens } from './document-tokens.js';
import { loginFailure } from './token-source.js';

/** A token to ask the authority about a document of ours; `refused` is forgotten first. */
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
