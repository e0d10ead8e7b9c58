import { createValidationPool, type ValidationPoolOptions } from '@ecf/public-ingress';
import type { TrustedIssuers } from '@ecf/xml-signing';
import { ReceptionError, type ReceptionErrorCode } from '../core/errors.js';
import type { Validation } from '../core/ports.js';
import type { WorkerSettings } from './validation-worker.js';

export interface ValidationOptions extends Pick<ValidationPoolOptions, 'threads' | 'timeoutMs'> {
  readonly trustedIssuers: TrustedIssuers | null;
  readonly maxBytes: number;
}

// Workers run compiled code, also where this file is read from its source.
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/outbound/validation-worker.js' : './validation-worker.js',
  import.meta.url,
);

/** Validates e-CF and signed seeds in worker threads. */
export function createValidation(options: ValidationOptions): Validation & { close(): Promise<void> } {
  const { trustedIssuers, maxBytes, threads, timeoutMs } = options;
  const workerData: WorkerSettings = {
    trustedIssuers: trustedIssuers && [...trustedIssuers.values()].map(String).join('\n'),
    maxBytes,
  };
  const pool = createValidationPool({
    worker: WORKER,
    workerData,
    threads,
    timeoutMs,
    refuse: ({ message, kind }, cause) => new ReceptionError(codeOf(kind), message, kind, { cause }),
    unavailable: ({ message, kind }, cause) => new ReceptionError('unavailable', message, kind, { cause }),
  });
  return {
    document: (bytes, now) => pool.run({ bytes, now }, 'document'),
    seed: (bytes, now) => pool.run({ bytes, now }, 'seed'),
    close: () => pool.close(),
  };
}

function codeOf(kind: string): ReceptionErrorCode {
  return kind.startsWith('seed.') ? 'seed_refused' : 'unreadable_document';
}
