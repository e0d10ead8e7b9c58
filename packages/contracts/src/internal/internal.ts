import { z } from 'zod';
import { rebuildStateSchema } from '../api/admin/deployment.js';
import { rawAnswerSchema } from '../api/invoices.js';
import { deliveryChangedSchema } from '../events/delivery.js';
import { invoiceChangedSchema } from '../events/invoice.js';
import { approvalChangedSchema, receivedInvoiceChangedSchema } from '../events/received-invoice.js';
import type { ServiceName } from '../services.js';
import { encfSchema, environmentSchema, rncSchema, runSchema } from '../values.js';

/** A query of one service to another: `POST path` with a JSON body, under a service's signed identity. */
export interface InternalOperation<Q extends z.ZodType = z.ZodType, A extends z.ZodType = z.ZodType> {
  readonly path: string;
  /** The services that may call it. Every other service gets 401 `invalid_identity`. */
  readonly callers: readonly [ServiceName, ...ServiceName[]];
  readonly request: Q;
  readonly answer: A;
}

/** A row of a set of operations. */
export const internalOperation = <Q extends z.ZodType, A extends z.ZodType>(
  path: string,
  callers: InternalOperation['callers'],
  request: Q,
  answer: A,
): InternalOperation<Q, A> => ({ path, callers, request, answer });

/** Most documents in a query. */
export const MAX_NUMBERS_PER_QUERY = 1_000;

/** Without `run`, a number is that of the present certification run. */
const numbersSchema = z
  .array(z.object({ issuer_rnc: rncSchema, encf: encfSchema, run: runSchema.optional() }))
  .max(MAX_NUMBERS_PER_QUERY);

const pageSchema = z.object({ after: z.int().nonnegative(), limit: z.int().min(1).max(1_000) });

/** Operations of emission for other services. */
export const EMISSION_OPERATIONS = {
  /**
   * A token of the authority for a taxpayer of an account; without `rnc`, for its oldest one with a valid certificate.
   * `refused` is a token that the authority answered with 401; it is dropped first.
   */
  authorityToken: internalOperation(
    '/internal/token',
    ['query'],
    z.object({
      env: environmentSchema,
      account_id: z.string().min(1),
      taxpayers_revision: z.int().nonnegative(),
      /** RNCs that the key of the call is limited to. */
      taxpayers: z.array(rncSchema).readonly().optional(),
      rnc: rncSchema.nullable(),
      refused: z.string().nullable(),
    }),
    z.object({ token: z.string(), expires_in: z.int() }),
  ),
  /**
   * The present state of documents; unknown ones are omitted. The form is that of the events; with `whole` it has every
   * submission and message.
   */
  findInvoices: internalOperation(
    '/internal/invoices/find',
    ['approvals', 'query'],
    z.object({ env: environmentSchema, numbers: numbersSchema, whole: z.boolean().optional() }),
    z.object({ invoices: z.array(invoiceChangedSchema) }),
  ),
  /** The present state of all documents, by id, `limit` at a time. `next` is null at the end. */
  pageOfInvoices: internalOperation(
    '/internal/invoices/page',
    ['query'],
    pageSchema,
    z.object({ invoices: z.array(invoiceChangedSchema), next: z.int().nullable() }),
  ),
  /**
   * The certificate that came with a document, in base64 and sealed for the purpose `request certificate`; null if emission
   * keeps none. It is kept until the document is final and its delivery has ended.
   */
  sealedCertificate: internalOperation(
    '/internal/invoices/certificate',
    ['approvals'],
    z.object({ env: environmentSchema, issuer_rnc: rncSchema, encf: encfSchema, run: runSchema.optional() }),
    z.object({ sealed: z.string().nullable() }),
  ),
  /** The authority's answers about the attempts of a document, oldest first. */
  rawAnswers: internalOperation(
    '/internal/invoices/answers',
    ['query'],
    z.object({ env: environmentSchema, issuer_rnc: rncSchema, encf: encfSchema, run: runSchema.optional() }),
    z.object({ answers: z.array(rawAnswerSchema.extend({ attempt: z.int().positive() })) }),
  ),
} as const;

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
    pageSchema,
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

/** Operations of approvals about the outcome of issued documents. */
export const OUTCOME_OPERATIONS = {
  /** The present state of all deliveries, by id, `limit` at a time. `next` is null at the end. */
  pageOfDeliveries: internalOperation(
    '/internal/outcomes/deliveries',
    ['query'],
    pageSchema,
    z.object({ deliveries: z.array(deliveryChangedSchema), next: z.int().nullable() }),
  ),
  /** The buyers' decisions about all issued documents, by id, `limit` at a time. `next` is null at the end. */
  pageOfDecisions: internalOperation(
    '/internal/outcomes/decisions',
    ['query'],
    pageSchema,
    z.object({ decisions: z.array(approvalChangedSchema), next: z.int().nullable() }),
  ),
} as const;

export type OutcomeOperations = InternalHandlers<typeof OUTCOME_OPERATIONS>;

/** Operations of the query service for other services. */
export const QUERY_OPERATIONS = {
  /** Starts a rebuild of the read models and answers when it runs. 409 `conflict` while another one runs. */
  startRebuild: internalOperation('/internal/rebuild', ['gateway'], z.object({}), rebuildStateSchema),
  rebuildState: internalOperation('/internal/rebuild/state', ['gateway'], z.object({}), rebuildStateSchema),
} as const;

/**
 * The services that may read taxpayers at the gateway: `GET /internal/accounts/{id}/taxpayers` and
 * `GET /internal/taxpayers/{rnc}`.
 */
export const TAXPAYER_SOURCE_CALLERS: readonly ServiceName[] = ['emission', 'reception', 'approvals', 'query'];

/** The functions of a set of operations, in the service that answers and in the one that calls. */
export type InternalHandlers<T extends Readonly<Record<string, InternalOperation>>> = {
  readonly [N in keyof T]: (request: z.output<T[N]['request']>) => Promise<z.output<T[N]['answer']>>;
};

export type EmissionOperations = InternalHandlers<typeof EMISSION_OPERATIONS>;

export type ReceptionOperations = InternalHandlers<typeof RECEPTION_OPERATIONS>;

export type QueryOperations = InternalHandlers<typeof QUERY_OPERATIONS>;
