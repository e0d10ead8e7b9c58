import type { MasterKeyOperations } from '@ecf/contracts';
import { ApiError, type SealingKeys, sealHead } from '@ecf/kit';
import type { Database } from '../database.js';
import { presentInstances } from './instances.js';
import type { SealedValues } from './sealed-rows.js';

/** Values that one call seals anew at most, of each kind. */
const RESEAL_BLOCK = 100;

/** The answers of a service about its sealed values. A value that is replaced meanwhile is never overwritten. */
export function createMasterKeyOperations(options: {
  readonly database: Pick<Database, 'query'>;
  readonly sealingKeys: Pick<SealingKeys, 'keyIds'>;
  readonly values: readonly SealedValues[];
}): MasterKeyOperations {
  const { database, sealingKeys, values } = options;
  return {
    async sealedState({ key_id }) {
      const counts = await Promise.all(values.map((kind) => kind.count(sealHead(key_id))));
      const older = counts.reduce((sum, count) => sum + count, 0);
      return { older, instances: await presentInstances(database) };
    },
    async reseal({ key_id }) {
      if (sealingKeys.keyIds[0] !== key_id)
        throw new ApiError(
          409,
          'conflict',
          `This instance does not seal with the key ${key_id}; put it first in MASTER_KEY, and make SEALING_KEYS of it where they are used.`,
        );
      let resealed = 0;
      for (const kind of values) resealed += await kind.reseal(sealHead(key_id), RESEAL_BLOCK);
      return { resealed };
    },
  };
}
