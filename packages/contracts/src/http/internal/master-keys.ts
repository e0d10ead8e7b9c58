import { z } from 'zod';
import { timestampSchema } from '../../environment.js';
import type { InternalHandlers } from './internal.js';

/** The services that keep sealed values. */
export const SEALING_SERVICES = ['gateway', 'emission', 'reception', 'approvals', 'query'] as const;
export type SealingService = (typeof SEALING_SERVICES)[number];

/** The id of a master key: four bytes of a hash, in hex. It tells nothing about the key. */
const keyIdSchema = z.string().regex(/^[0-9a-f]{8}$/, 'is 8 hexadecimal digits');

/** The sealed values of a service, and the keys of its instances. */
const sealedStateSchema = z.object({
  /** Values that another key than the named one sealed. */
  older: z.number().int().nonnegative(),
  /** Instances that reported within the last half minute. `key_ids` are those of MASTER_KEY, in its order. */
  instances: z.array(
    z.object({
      id: z.string().meta({ description: 'Id of the instance' }),
      key_ids: z.array(keyIdSchema),
      seen_at: timestampSchema,
    }),
  ),
});

/** Answer of `GET /admin/master-keys` and `POST /admin/master-keys/reseal`. */
export const masterKeyStateSchema = z.object({
  /** The newest key of the gateway that answers. */
  key_id: keyIdSchema,
  services: z.array(
    sealedStateSchema.extend({ service: z.enum(SEALING_SERVICES).meta({ description: 'The name of the service' }) }),
  ),
});
export type MasterKeyState = z.infer<typeof masterKeyStateSchema>;

const keyRequest = z.object({ key_id: keyIdSchema });

/** Operations of each service that keeps sealed values. */
export const MASTER_KEY_OPERATIONS = {
  sealedState: {
    path: '/internal/master-keys/state',
    callers: ['gateway'],
    request: keyRequest,
    answer: sealedStateSchema,
  },
  /** Seals one block anew under the named key. 409 `conflict` if the service seals with another key, or cannot open a value. */
  reseal: {
    path: '/internal/master-keys/reseal',
    callers: ['gateway'],
    request: keyRequest,
    answer: z.object({ resealed: z.number().int() }),
  },
} as const;
export type MasterKeyOperations = InternalHandlers<typeof MASTER_KEY_OPERATIONS>;
