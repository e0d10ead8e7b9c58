import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker } from '@ecf/kit/worker-threads';
import { createValidationPool, isOverload, type ValidationThreads } from '@ecf/public-ingress';
import { EmissionError } from '../errors.js';
import type { SignedDocumentResult, SignedDocumentTask } from './signed-document-thread.worker.js';
import type { ReadSigned } from './signed-xml.js';

/** Reads and checks signed documents in worker threads: other callers do not wait for a large one. */
export function createSignedDocuments(settings: {
  readonly maxBytes: number;
  readonly threads: ValidationThreads;
  readonly timeoutMs: number;
  readonly watchQueue: WatchQueue;
}): { readonly read: ReadSigned; close(): Promise<void> } {
  const pool = createValidationPool({
    ...settings,
    // Its workers do not validate certificates of unknown callers.
    trust: { issuers: null, revocations: null, signingTimeToleranceMs: 0 },
    worker: compiledWorker(import.meta, 'signed-document-thread.worker'),
    refuse: ({ message }, cause) => new EmissionError('invalid_xml', message, { cause }),
    unavailable: (reason, cause) =>
      new EmissionError(isOverload(reason) ? 'overloaded' : 'service_unavailable', reason.message, {
        cause,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      }),
  });
  return {
    async read(xml, expected, env, now) {
      const bytes = Buffer.from(xml, 'utf8');
      const task: SignedDocumentTask = { bytes, now, env, expected };
      const result = await pool.run<SignedDocumentResult>(task);
      if ('document' in result) return { ...result.document, bytes };
      const { code, message, faults } = result.refused;
      throw new EmissionError(code, message, faults === null ? {} : { faults });
    },
    close: () => pool.close(),
  };
}

const RETRY_AFTER_SECONDS = 5;
