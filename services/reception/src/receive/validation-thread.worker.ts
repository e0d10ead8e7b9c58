import { type RefusalWords, workerSettings, workerTask } from '@ecf/public-ingress/validation-worker';
import { ReceptionError } from '../errors.js';
import { readSignedSeed } from '../tokens/signed-seed.js';
import { validateDocument } from './validate-document.js';

const { trust, maxBytes } = workerSettings();

export const document = workerTask(({ bytes, now }) => validateDocument(bytes, { now, trust, maxBytes }), wordsOf);
export const seed = workerTask(({ bytes, now }) => readSignedSeed(bytes, now), wordsOf);

function wordsOf(error: unknown): RefusalWords | null {
  return error instanceof ReceptionError ? { message: error.message, kind: error.kind } : null;
}
