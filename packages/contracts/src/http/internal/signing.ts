import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, runSchema } from '../../environment.js';
import type { InternalHandlers } from './internal.js';

/** Operations of emission for the delivery of its documents. It signs seeds only, and its keys never leave it. */
export const SIGNING_OPERATIONS = {
  /**
   * Signs a seed of the authority or of a receiver with the certificate that came with a document. Without a seed it only
   * answers whose certificate that is. 503 `certificate_missing` if none is stored, `certificate_expired` if it has expired.
   */
  signSeed: {
    path: '/internal/signing/seed',
    callers: ['approvals'],
    request: z.object({
      env: environmentSchema,
      issuer_rnc: rncSchema,
      encf: encfSchema,
      /** The certification run; without it, the present one. */
      run: runSchema.optional(),
      seed: z.object({ value: z.string().min(1).max(10_000), date: z.string().max(100) }).nullable(),
    }),
    answer: z.object({ fingerprint: z.string(), signed_seed: z.string().nullable() }),
  },
} as const;
export type SigningOperations = InternalHandlers<typeof SIGNING_OPERATIONS>;
