import type { BatchBody, BatchDone, ErrorDetail, LineStatus } from '@ecf/contracts';
import { type Environment, type Fault, toIsoDominican } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Attempt } from '../attempt/attempt.js';

/** Lines by status. The sum is the total of the batch. */
export type BatchCounts = Readonly<Record<LineStatus, number>>;

/** A batch whose body begins to arrive. */
export interface NewBatch {
  readonly env: Environment;
  /** The rights of the key when the batch came. A later deactivation of the key does not stop the batch. */
  readonly caller: Caller;
  readonly idempotencyKey: string | null;
  readonly validate: boolean;
  /** Whether its documents may be signed and wait while the authority is unreachable. */
  readonly mayWait: boolean;
  /** Whether a warning refuses a document. */
  readonly refusesWarnings: boolean;
  readonly createdAt: Date;
}

export interface Batch {
  readonly id: number;
  readonly validate: boolean;
  readonly total: number;
  readonly counts: BatchCounts;
  readonly createdAt: Date;
  readonly cancelledAt: Date | null;
  /** When the last line became final. */
  readonly finishedAt: Date | null;
}

/** A batch whose lines are all final. */
export interface FinishedBatch extends Batch {
  readonly env: Environment;
  readonly caller: Caller;
  /** The issuer, if all documents name the same one. */
  readonly issuerRnc: string | null;
}

/** A line of the body. */
export interface NewLine {
  /** From 1. */
  readonly line: number;
  /** Null if it is larger than a document may be. */
  readonly document: Buffer | null;
  readonly encf: string | null;
  readonly issuerRnc: string | null;
  readonly ownReference: string | null;
}

/** Lines that have to end before a line begins. */
export interface LineOrder {
  readonly line: number;
  /** An earlier line with the same number. */
  readonly sameLine: number | null;
  /** The line of the document that this one refers to. */
  readonly referenceLine: number | null;
}

/** A line that this instance works on until its lease ends. */
export interface DueLine {
  readonly batchId: number;
  readonly line: number;
  readonly env: Environment;
  readonly caller: Caller;
  /** When its batch came. */
  readonly createdAt: Date;
  readonly validate: boolean;
  readonly mayWait: boolean;
  /** Whether a warning refuses a document. */
  readonly refusesWarnings: boolean;
  /** Whether the batch came with an idempotency key, which a document without eNCF needs. */
  readonly hasKey: boolean;
  readonly document: Buffer | null;
  /** How often it was postponed, and how often because of an unexpected failure. */
  readonly postponements: number;
  readonly failures: number;
  /** Readings of its large document that began and did not end, because they ended their thread or process. */
  readonly readings: number;
  /** Its number may be used: an instance worked on it before, and maybe crashed. */
  readonly begun: boolean;
  /** Its batch is cancelled. */
  readonly cancelled: boolean;
  /** The number of the line that this one refers to, if that line is refused. */
  readonly refusedReference: string | null;
}

/**
 * Identifies a line in the record of the attempt that it makes, and is its key for an automatic number. A caller's key
 * has no tab, so it is never the same.
 */
export function keyOfLine({ batchId, line }: Pick<DueLine, 'batchId' | 'line'>): string {
  return `batch\t${batchId}\t${line}`;
}

/** The answer to a document that was not issued. */
export interface LineError {
  readonly status: number;
  readonly code: string;
  readonly detail: ErrorDetail;
}

export type LineOutcome =
  | { readonly outcome: 'submitted'; readonly emissionId: number; readonly attempt: number }
  | { readonly outcome: 'validated'; readonly warnings: readonly Fault[] }
  | {
      readonly outcome: 'refused';
      readonly error: LineError;
      readonly messages: readonly string[];
      readonly faults: readonly unknown[];
    };

/** A line that is due again later. */
export interface Postponed {
  readonly outcome: 'postponed';
  readonly dueAt: Date;
  /** Its number may be used. */
  readonly begun: boolean;
  /** The failure was unexpected. */
  readonly failed: boolean;
  /** The account is over its limit: this does not count as a postponement. */
  readonly limited: boolean;
}

/** A line with its outcome; `attempt` is the present state of a submitted one. */
export interface BatchLine {
  readonly line: number;
  readonly encf: string | null;
  readonly issuerRnc: string | null;
  readonly ownReference: string | null;
  readonly outcome: LineOutcome | null;
  readonly attempt: Attempt | null;
}

/** The batch as callers see it. */
export function batchBody(batch: Batch): BatchBody {
  return {
    batch_id: String(batch.id),
    status: batch.cancelledAt !== null ? 'cancelled' : batch.finishedAt !== null ? 'done' : 'processing',
    validate: batch.validate,
    total: batch.total,
    ...batch.counts,
    created_at: toIsoDominican(batch.createdAt),
    finished_at: batch.finishedAt === null ? null : toIsoDominican(batch.finishedAt),
  };
}

/** The data of the event that publishes the end of a batch. */
export function batchDone({ env, caller, issuerRnc, ...batch }: FinishedBatch): BatchDone {
  return {
    env,
    account_id: caller.accountId,
    taxpayers: caller.taxpayers === undefined ? null : [...caller.taxpayers],
    issuer_rnc: issuerRnc,
    batch: batchBody(batch),
  };
}
