import { workerData } from 'node:worker_threads';
import { trustCheck } from '@ecf/public-ingress/signed-document';
import { type RefusalWords, workerTask } from '@ecf/public-ingress/validation-worker';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { validateDocument } from '../core/documents/validate-document.js';
import { ReceptionError } from '../core/errors.js';
import { readSignedSeed } from '../core/providers/signed-seed.js';

export interface WorkerSettings {
  /** Trusted issuers as PEM, null for any issuer. */
  readonly trustedIssuers: string | null;
  readonly maxBytes: number;
}

const { trustedIssuers, maxBytes } = workerData as WorkerSettings;
const trust = trustCheck(trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers));

export const document = workerTask(({ bytes, now }) => validateDocument(bytes, { now, trust, maxBytes }), wordsOf);
export const seed = workerTask(({ bytes, now }) => readSignedSeed(bytes, now), wordsOf);

function wordsOf(error: unknown): RefusalWords | null {
  return error instanceof ReceptionError ? { message: error.message, kind: error.kind } : null;
}
