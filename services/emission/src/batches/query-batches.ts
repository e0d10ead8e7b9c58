import { EmissionError } from '../errors.js';
import type { Batch, BatchLine } from './batch.js';
import type { BatchScope, BatchStore, ResultPage } from './ports.js';

export interface QueryBatches {
  one(scope: BatchScope, id: number): Promise<Batch>;
  list(scope: BatchScope, page: { after: number | null; limit: number }): Promise<Batch[]>;
  /** The batch that came with an idempotency key. */
  withKey(scope: BatchScope, idempotencyKey: string): Promise<Batch[]>;
  /** Reads pages of the results of a batch. */
  results(scope: BatchScope, id: number): Promise<(page: ResultPage) => Promise<BatchLine[]>>;
  /** Refuses the lines that have not begun. A finished batch does not change. */
  cancel(scope: BatchScope, id: number): Promise<Batch>;
}

export function createQueryBatches({
  batches,
  clock,
}: {
  readonly batches: BatchStore;
  readonly clock: () => Date;
}): QueryBatches {
  async function one(scope: BatchScope, id: number): Promise<Batch> {
    const batch = await batches.find(scope, id);
    if (batch === null) throw new EmissionError('not_found', `There is no batch ${id} in ${scope.env}.`);
    return batch;
  }

  return {
    one,
    list: (scope, page) => batches.list(scope, page),
    async withKey(scope, idempotencyKey) {
      const found = await batches.findByKey(scope, idempotencyKey);
      const batch = found === null ? null : await batches.find(scope, found.id);
      return batch === null ? [] : [batch];
    },
    async results(scope, id) {
      await one(scope, id);
      return (page) => batches.results(id, page);
    },
    async cancel(scope, id) {
      const batch = await one(scope, id);
      if (batch.finishedAt !== null) return batch;
      await batches.cancel(id, clock());
      return one(scope, id);
    },
  };
}
