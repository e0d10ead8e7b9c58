import { z } from 'zod';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { encfSchema, named, referenceSchema, rncSchema, timestampSchema, trackIdSchema } from '../values.js';
import { errorBodySchema, faultSchema } from './error-body.js';
import { INVOICE } from './examples.js';
import { READ_SUBMITTED } from './key-rights.js';
import { header, optional, publicOperations } from './operation.js';
import * as P from './parameters.js';
import { batchDocumentSchema } from './submissions.js';

/** Most documents of a batch, and most bytes of its body. */
export const MAX_BATCH_DOCUMENTS = 10_000;
export const MAX_BATCH_BYTES = 100 * 1024 * 1024;

/** The place of a line on its way. Held documents are pending; `refused` was never submitted. */
export const LINE_STATUSES = ['pending', 'accepted', 'conditional', 'rejected', 'in_process', 'refused'] as const;

export type LineStatus = (typeof LINE_STATUSES)[number];

const lines = z.int().nonnegative();

const batchIdSchema = z.string().regex(/^\d{1,15}$/);

const batchReceiptSchema = named(
  'BatchReceipt',
  {
    batch_id: batchIdSchema,
    total: lines.describe('Number of documents'),
    status_url: z.string().meta({ description: 'Path of the batch', examples: ['/batches/1'] }),
  },
  { description: 'Every document is stored.' },
);

/** A batch. The counts add up to `total`. */
export const batchSchema = named('Batch', {
  batch_id: batchIdSchema,
  status: z.enum(['processing', 'done', 'cancelled']).meta({
    description: 'processing until every line is decided or refused; cancelled if it was stopped',
    examples: ['done'],
  }),
  validate: z.boolean().describe('True if the documents are only checked'),
  total: lines.describe('Number of documents; the other counts add up to it'),
  pending: lines.describe('Lines that are not submitted yet'),
  accepted: lines.describe('Lines that the authority accepted'),
  conditional: lines.describe('Lines that the authority accepted conditionally (AceptadoCondicional)'),
  rejected: lines.describe('Lines that the authority rejected'),
  in_process: lines.describe('Lines without a verdict of the authority'),
  refused: lines,
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
});
export type BatchBody = z.infer<typeof batchSchema>;

/** Response of `GET /batches`; `next` continues the list, null at its end. */
const batchListSchema = named('BatchList', {
  count: lines,
  next: z.string().nullable(),
  batches: z.array(batchSchema).describe('The batches of this page'),
});

const CONFLICT =
  'The document stored as E310000000002 in TesteCF is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.Totales.MontoTotal is "11430.00" in the stored document and "11500.00" in this one. If this is the same sale, you need not do anything. Use another number only for another sale.';
const REFUSED_LINE = {
  line: 2,
  encf: 'E310000000002',
  issuer_rnc: '199999991',
  reference: 'order-4711',
  status: null,
  code: null,
  track_id: null,
  security_code: null,
  qr_url: null,
  messages: [CONFLICT],
  faults: [],
  warnings: [],
  sequence_used: null,
  error: { status: 409, code: 'encf_already_used', message: CONFLICT, items: [], detail: CONFLICT },
};

/** The result of a line. Its fields are those of `/fe_Submit`; `error` is the response to a document that was refused. */
const batchResultSchema = named(
  'BatchResult',
  {
    line: z.int().positive().describe('Counts the documents of the batch from 1'),
    encf: encfSchema.nullable(),
    issuer_rnc: rncSchema.nullable(),
    reference: referenceSchema.nullable().describe("The caller's own reference"),
    status: z
      .union([invoiceStatusSchema, z.literal('Validado')])
      .nullable()
      .describe('Null while the line is pending, and if it is refused'),
    code: z.string().nullable(),
    track_id: trackIdSchema.nullable(),
    security_code: z.string().nullable(),
    qr_url: z.string().nullable(),
    messages: z
      .array(z.union([authorityMessageSchema, z.string()]))
      .describe("The authority's messages or, for a refused line, the reasons as text"),
    faults: z.array(faultSchema).describe('The faults of the document; empty unless it was refused for them'),
    warnings: z.array(faultSchema),
    sequence_used: z.boolean().nullable(),
    error: z
      .object({
        status: z.int().describe('The HTTP status that /fe_Submit would answer'),
        ...errorBodySchema.pick({ code: true, message: true, items: true, detail: true }).shape,
      })
      .nullable()
      .describe('The response of /fe_Submit to a document that was refused; null for every other line'),
  },
  { examples: [REFUSED_LINE] },
);
export type BatchResult = z.infer<typeof batchResultSchema>;

const batchResultListSchema = named('BatchResultList', {
  count: lines,
  next: z.string().nullable(),
  results: z.array(batchResultSchema).describe('The results of this page, in the order of the lines'),
});

export const BATCHES = publicOperations('Batches', 'emission', {
  createBatch: {
    route: 'POST /batches',
    scopes: ['submit'],
    maxBodyBytes: MAX_BATCH_BYTES,
    summary: 'Accepts up to 10,000 invoices in one request',
    description:
      'One document per line (NDJSON) or a JSON array, at most 100 MiB. The response is sent when every document is stored durably. Each line is then issued as /fe_Submit would; a line at fault is refused alone. A response that /fe_Submit would give with Retry-After keeps the line pending. A note may refer to a document of the same batch, in any order. With idempotency-key, the same documents again find the first batch, with any FechaHoraFirma; other documents are 409. Lines without eNCF get the next number of a registered range; they are refused with idempotency_key_required if the batch has no key, and so is a batch of such lines only. A line may carry the reference of its document in your own system: {"ECF": ..., "reference": "..."}. With x-contingency: true, documents are signed while the authority is unreachable and are pending until they are sent.',
    query: { validate: P.validate, warnings: P.warnings },
    headers: { 'idempotency-key': P.idempotencyKey, 'x-contingency': P.contingency },
    body: {
      'application/json': z.array(batchDocumentSchema).min(1).max(MAX_BATCH_DOCUMENTS),
      'application/x-ndjson': z.string().meta({
        description: 'One {"ECF": …} per line.',
        examples: [`${JSON.stringify({ ECF: INVOICE })}\n`],
      }),
    },
    status: 202,
    response: batchReceiptSchema,
    responseHeaders: { location: header('Path of the batch.', '/batches/1') },
    errors: ['invalid_batch', 'idempotency_key_required', 'idempotency_conflict', 'unsupported_media_type'],
  },
  listBatches: {
    route: 'GET /batches',
    scopes: READ_SUBMITTED,
    summary: 'Lists the batches of the environment, newest first',
    description: 'A batch is deleted 30 days after it finished.',
    query: {
      after: optional(z.string(), 'Where to continue: `next` of a page.', '12'),
      limit: P.limit,
      idempotency_key: optional(
        z.string().min(1).max(255),
        'Only the batch that was sent with this key.',
        'invoices-2026-06-01-a',
      ),
    },
    response: batchListSchema,
  },
  findBatch: {
    route: 'GET /batches/{batch_id}',
    scopes: READ_SUBMITTED,
    summary: 'Returns a batch with its counts',
    description:
      '`pending` lines are not submitted yet, `in_process` lines have no verdict yet, `refused` lines were never submitted. The batch is done when both of the first are 0.',
    params: { batch_id: P.batchId },
    response: batchSchema,
    hasEtag: true,
    errors: ['not_found'],
  },
  batchResults: {
    route: 'GET /batches/{batch_id}/results',
    scopes: READ_SUBMITTED,
    summary: 'Returns the results of a batch in the order of its lines',
    description: 'With Accept: application/x-ndjson, all results are streamed, one per line, without a limit.',
    params: { batch_id: P.batchId },
    query: {
      after: optional(z.string(), 'Only lines after this one: `next` of a page.', '200'),
      limit: P.limit,
      only: optional(z.enum(LINE_STATUSES), 'Only lines of this status.', 'refused'),
    },
    response: {
      'application/json': batchResultListSchema,
      'application/x-ndjson': batchResultSchema,
    },
    errors: ['not_found'],
  },
  cancelBatch: {
    route: 'POST /batches/{batch_id}/cancel',
    scopes: ['submit'],
    summary: 'Cancels the lines of a batch that have not begun',
    description: 'They become `refused` with the code batch_cancelled. Lines that began finish.',
    params: { batch_id: P.batchId },
    response: batchSchema,
    errors: ['not_found'],
  },
});
