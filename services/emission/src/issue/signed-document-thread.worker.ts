import type { Environment } from '@ecf/domain';
import { type ValidationTask, workerSettings, workerTask } from '@ecf/public-ingress/validation-worker';
import { EmissionError } from '../errors.js';
import { readSignedXml, type SignedDocument } from './signed-xml.js';

/** A signed document of a caller, to be read. */
export interface SignedDocumentTask extends ValidationTask {
  readonly env: Environment;
  readonly expected: 'ECF' | 'RFCE';
}

/** The document without its bytes, which the caller has, or the refusal; an error loses its class between threads. */
export type SignedDocumentResult =
  | { readonly document: Omit<SignedDocument, 'bytes'> }
  | { readonly refused: Pick<EmissionError, 'code' | 'message' | 'faults'> };

const { maxBytes } = workerSettings();

export default workerTask(
  ({ bytes, now, env, expected }: SignedDocumentTask): SignedDocumentResult => {
    try {
      const { bytes: _bytes, ...document } = readSignedXml(bytes, expected, env, now, maxBytes);
      return { document };
    } catch (error) {
      if (!(error instanceof EmissionError)) throw error;
      const { code, message, faults } = error;
      return { refused: { code, message, faults } };
    }
  },
  () => null,
);
