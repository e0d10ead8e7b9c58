import { z } from 'zod';
import { receivedInvoiceChangedSchema } from '../events/received-invoice.js';
import { environmentSchema, rncSchema } from '../values.js';
import { type InternalHandlers, internalOperation, internalPageSchema, MAX_NUMBERS_PER_QUERY } from './operation.js';

/** Operations of reception for other services. */
export const RECEPTION_OPERATIONS = {
  /** The present state of the documents received under a number for the given buyers; of all issuers if none is named. */
  findReceived: internalOperation(
    '/internal/received/find',
    ['approvals', 'query'],
    z.object({
      env: environmentSchema,
      buyer_rncs: z.array(rncSchema).max(MAX_NUMBERS_PER_QUERY),
      issuer_rnc: rncSchema.nullable(),
      /** The number as received, with or without faults. */
      encf: z.string().min(1),
    }),
    z.object({ received: z.array(receivedInvoiceChangedSchema) }),
  ),
  /** The present state of all received documents, by id, `limit` at a time. `next` is null at the end. */
  pageOfReceived: internalOperation(
    '/internal/received/page',
    ['query'],
    internalPageSchema,
    z.object({ received: z.array(receivedInvoiceChangedSchema), next: z.int().nullable() }),
  ),
  /**
   * Verifies a sender's header `Authorization`. Answers the holder's id in the certificate of the token; null if the
   * token is missing, expired, forged or of another environment. Called only if PROVIDER_AUTH is `required`.
   */
  verifyProviderToken: internalOperation(
    '/internal/provider-token',
    ['approvals'],
    z.object({ env: environmentSchema, authorization: z.string().nullable() }),
    z.object({ holder: z.string().nullable() }),
  ),
} as const;
export type ReceptionOperations = InternalHandlers<typeof RECEPTION_OPERATIONS>;
