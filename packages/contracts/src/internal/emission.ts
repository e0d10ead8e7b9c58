import { z } from 'zod';
import { actedSchema } from '../api/admin/audit.js';
import {
  doubtfulCancellationSchema,
  doubtfulFilterSchema,
  doubtfulPageSchema,
  settlementSchema,
} from '../api/admin/cancellations.js';
import {
  alarmedFilterSchema,
  alarmedPageSchema,
  resolutionSchema,
  resolvedDocumentSchema,
} from '../api/admin/documents.js';
import { newRunSchema, startedRunSchema } from '../api/admin/taxpayers.js';
import { rawAnswerSchema } from '../api/invoices.js';
import { invoiceChangedSchema } from '../events/invoice.js';
import { numberRangeSchema } from '../events/taxpayer.js';
import { encfSchema, environmentSchema, rncSchema, runSchema, trackIdSchema } from '../values.js';
import { type InternalHandlers, internalOperation, internalPageSchema, MAX_NUMBERS_PER_QUERY } from './operation.js';

/** Without `run`, a number is that of the present certification run. */
const numbersSchema = z
  .array(z.object({ issuer_rnc: rncSchema, encf: encfSchema, run: runSchema.optional() }))
  .max(MAX_NUMBERS_PER_QUERY);

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
  /**
   * The present state of all documents, by id, at most `limit` at a time: a page lacks the documents of detached months. `next` is
   * null at the end.
   */
  pageOfInvoices: internalOperation(
    '/internal/invoices/page',
    ['query'],
    internalPageSchema,
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
export type EmissionOperations = InternalHandlers<typeof EMISSION_OPERATIONS>;

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

/** The numbers of each range that are left for automatic numbers, in the order of the request. */
const numbersLeftSchema = z.object({
  ranges: z.array(
    z.object({
      next: encfSchema.nullable().describe('The next automatic number; null if none is left or the range is expired'),
      remaining: z.int().nonnegative().describe('Numbers that are not used, cancelled or reserved'),
    }),
  ),
});

/** Operations of emission for operators. */
export const RESOLUTION_OPERATIONS = {
  numbersLeft: internalOperation(
    '/internal/numbers/left',
    ['gateway'],
    z.object({ issuer_rnc: rncSchema, ranges: z.array(numberRangeSchema) }),
    numbersLeftSchema,
  ),
  listAlarmed: internalOperation('/internal/emissions/alarmed', ['gateway'], alarmedFilterSchema, alarmedPageSchema),
  /** 404 `not_found` if no document was issued under the number, 409 `conflict` if the document needs no decision. */
  resolveDocument: internalOperation(
    '/internal/emissions/resolve',
    ['gateway'],
    resolutionSchema.and(actedSchema),
    resolvedDocumentSchema,
  ),
  listDoubtful: internalOperation(
    '/internal/cancellations/doubtful',
    ['gateway'],
    doubtfulFilterSchema,
    doubtfulPageSchema,
  ),
  /** 404 `not_found`; 409 `conflict` if it has no alarm, or is being sent. */
  settleCancellation: internalOperation(
    '/internal/cancellations/settle',
    ['gateway'],
    settlementSchema.and(actedSchema),
    doubtfulCancellationSchema,
  ),
  /** 409 `conflict` while another start for the taxpayer and environment is in work. */
  startRun: internalOperation(
    '/internal/runs/start',
    ['gateway'],
    z.object({ ...newRunSchema.shape, account_id: z.string().min(1), issuer_rnc: rncSchema }).and(actedSchema),
    startedRunSchema,
  ),
} as const;
export type ResolutionOperations = InternalHandlers<typeof RESOLUTION_OPERATIONS>;
