import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, trackIdSchema } from '../../environment.js';
import { invoiceChangedSchema } from '../../events/invoice.js';
import type { InternalHandlers } from './internal.js';

/** What emission answers to those who follow its documents up at the authority. */
export const FOLLOW_UP_OPERATIONS = {
  /** The present state, whole, of the document that was submitted under a trackId; null where none of ours was. */
  findSubmission: {
    path: '/internal/submissions/find',
    request: z.object({ env: environmentSchema, track_id: trackIdSchema }),
    answer: z.object({ invoice: invoiceChangedSchema.nullable() }),
  },
  /**
   * Documents that have a trackId and whose verdict is awaited, by id, at most `limit`: what who follows them up compares with.
   * `next` is null at the end.
   */
  pageOfUndecided: {
    path: '/internal/submissions/undecided',
    request: z.object({ after: z.number().int().nonnegative(), limit: z.number().int().min(1).max(1_000) }),
    answer: z.object({ invoices: z.array(invoiceChangedSchema), next: z.number().int().nullable() }),
  },
  /**
   * A token of the authority to ask about a signed document: of the certificate that came with it, else of the taxpayer's
   * stored one, whether the taxpayer is active or not. `refused` names a token that the authority answered 401 to: it is
   * forgotten first.
   */
  documentToken: {
    path: '/internal/submissions/token',
    request: z.object({
      env: environmentSchema,
      issuer_rnc: rncSchema,
      encf: encfSchema,
      refused: z.string().nullable(),
    }),
    answer: z.object({ token: z.string() }),
  },
} as const;

export type FollowUpOperations = InternalHandlers<typeof FOLLOW_UP_OPERATIONS>;
