import { z } from 'zod';
import { invoiceChangedSchema } from '../events/invoice.js';
import { encfSchema, environmentSchema, rncSchema, trackIdSchema } from '../values.js';
import { type InternalHandlers, internalOperation } from './internal.js';

/** Operations of emission for the follow-up of its documents at the authority. */
export const FOLLOW_UP_OPERATIONS = {
  /** The whole present state of the document that was submitted under a trackId; null if we did not submit it. */
  findSubmission: internalOperation(
    '/internal/submissions/find',
    ['status-poller'],
    z.object({ env: environmentSchema, track_id: trackIdSchema }),
    z.object({ invoice: invoiceChangedSchema.nullable() }),
  ),
  /**
   * Documents that have a trackId and wait for their verdict, by id, at most `limit`. The status poller compares its own list
   * with them. `next` is null at the end.
   */
  pageOfUndecided: internalOperation(
    '/internal/submissions/undecided',
    ['status-poller'],
    z.object({ after: z.int().nonnegative(), limit: z.int().min(1).max(1_000) }),
    z.object({ invoices: z.array(invoiceChangedSchema), next: z.int().nullable() }),
  ),
  /**
   * A token of the authority for queries about a signed document. The login uses the certificate that came with it, else the
   * taxpayer's stored one, active or not. `refused` is a token that the authority answered with 401; it is dropped first.
   */
  documentToken: internalOperation(
    '/internal/submissions/token',
    ['status-poller'],
    z.object({
      env: environmentSchema,
      issuer_rnc: rncSchema,
      encf: encfSchema,
      /** The trackId finds the document of an earlier certification run. */
      track_id: trackIdSchema.optional(),
      refused: z.string().nullable(),
    }),
    z.object({ token: z.string() }),
  ),
} as const;

export type FollowUpOperations = InternalHandlers<typeof FOLLOW_UP_OPERATIONS>;
