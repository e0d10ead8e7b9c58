import type { BatchBody, BatchDone } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Batch, FinishedBatch } from './batch.js';

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
