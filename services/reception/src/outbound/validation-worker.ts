import { type RefusalWords, workerSettings, workerTask } from '@ecf/public-ingress/validation-worker';
import { validateDocument } from '../core/documents/validate-document.js';
import { ReceptionError } from '../core/errors.js';
import { readSignedSeed } from '../core/providers/signed-seed.js';

const { trust, maxBytes } = workerSettings();

export const document = workerTask(({ bytes, now }) => validateDocument(bytes, { now, trust, maxBytes }), wordsOf);
export const seed = workerTask(({ bytes, now }) => readSignedSeed(bytes, now), wordsOf);

function wordsOf(error: unknown): RefusalWords | null {
  return error instanceof ReceptionError ? { message: error.message, kind: error.kind } : null;
}
