import { workerData } from 'node:worker_threads';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { openRevocations } from './signers/revocations.js';
import { type TrustCheck, trustCheck } from './signers/trust.js';

/** The settings that the pool passes to a worker. */
export interface WorkerSettings {
  /** Trusted issuers as PEM, null for any issuer. */
  readonly trustedIssuers: string | null;
  /** File of revoked certificates with its last readable content; null for none. */
  readonly revoked: { readonly file: string; readonly content: Uint8Array } | null;
  readonly signingTimeToleranceMs: number;
  readonly maxBytes: number;
}

/** In a worker: whom it trusts, and the longest document that it reads. */
export function workerSettings(): { readonly trust: TrustCheck; readonly maxBytes: number } {
  const { trustedIssuers, revoked, signingTimeToleranceMs, maxBytes } = workerData as WorkerSettings;
  const revocations = revoked === null ? null : openRevocations(revoked.file, { former: revoked.content });
  const issuers = trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers);
  return { trust: trustCheck({ issuers, revocations, signingTimeToleranceMs }), maxBytes };
}

/** A refusal in words; an error loses its class between threads. */
export interface RefusalWords {
  readonly message: string;
  readonly kind: string;
}

/** A document to validate, and the moment that counts as now. */
export interface ValidationTask {
  readonly bytes: Uint8Array;
  readonly now: Date;
}

export type WorkerAnswer<R> = { readonly result: R } | { readonly refused: RefusalWords };

/**
 * Makes a function that a validation worker runs. `wordsOf` tells a refusal of the document from a failure: it returns null
 * for a failure, which rejects the call.
 */
export function workerTask<R, Task extends ValidationTask = ValidationTask>(
  validate: (task: Task) => R,
  wordsOf: (error: unknown) => RefusalWords | null,
): (task: Task) => WorkerAnswer<R> {
  return (task) => {
    try {
      return { result: validate(task) };
    } catch (error) {
      const refused = wordsOf(error);
      if (refused === null) throw error;
      return { refused };
    }
  };
}
