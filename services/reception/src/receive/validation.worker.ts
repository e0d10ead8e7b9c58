import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker } from '@ecf/kit/worker-threads';
import { createValidationPool, isOverload, type ValidationSettings } from '@ecf/public-ingress';
import { ReceptionError, type ReceptionErrorCode } from '../errors.js';
import type { SeedValidation } from '../tokens/ports.js';
import type { DocumentValidation } from './ports.js';

/** Validates e-CF and signed seeds in worker threads. */
export function createValidation(
  settings: ValidationSettings & { readonly watchQueue: WatchQueue },
): DocumentValidation & SeedValidation & { close(): Promise<void> } {
  const pool = createValidationPool({
    ...settings,
    worker: compiledWorker(import.meta, 'validation-thread.worker'),
    refuse: ({ message, kind }, cause) => new ReceptionError(codeOf(kind), message, kind, { cause }),
    unavailable: (reason, cause) =>
      new ReceptionError(isOverload(reason) ? 'overloaded' : 'unavailable', reason.message, reason.kind, { cause }),
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
