import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema } from '../../environment.js';
import type { InternalHandlers } from './internal.js';

/** What emission signs for those who deliver its documents: nothing but seeds, with a key that never leaves it. */
export const SIGNING_OPERATIONS = {
  /**
   * Signs a seed, of the authority or of a receiver, with the certificate that came along with a document; without a seed
   * it only tells whose certificate that is. 503 `certificate_missing` where none is kept (any more), `certificate_expired`
   * where it can no longer be used.
   */
  signSeed: {
    path: '/internal/signing/seed',
    request: z.object({
      env: environmentSchema,
      issuer_rnc: rncSchema,
      encf: encfSchema,
      seed: z.object({ value: z.string().min(1).max(10_000), date: z.string().max(100) }).nullable(),
    }),
    answer: z.object({ fingerprint: z.string(), signed_seed: z.string().nullable() }),
  },
} as const;
export type SigningOperations = InternalHandlers<typeof SIGNING_OPERATIONS>;
