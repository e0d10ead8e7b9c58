import { z } from 'zod';
import { keyIdSchema, sealedStateSchema } from '../api/admin/deployment.js';
import { type InternalHandlers, internalOperation } from './internal.js';

const keyRequest = z.object({ key_id: keyIdSchema });

/** Operations of each service that keeps sealed values. */
export const MASTER_KEY_OPERATIONS = {
  sealedState: internalOperation('/internal/master-keys/state', ['gateway'], keyRequest, sealedStateSchema),
  /** Seals one block anew under the named key. 409 `conflict` if the service seals with another key, or cannot open a value. */
  reseal: internalOperation('/internal/master-keys/reseal', ['gateway'], keyRequest, z.object({ resealed: z.int() })),
} as const;

export type MasterKeyOperations = InternalHandlers<typeof MASTER_KEY_OPERATIONS>;
