import { z } from 'zod';
import { encfSchema, referenceSchema, rncSchema, timestampSchema, trackIdSchema } from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { errorBodySchema, faultSchema } from './error-body.js';

/** Most documents of a batch, and most bytes of its body. */
export const MAX_BATCH_DOCUMENTS = 10_000;
export const MAX_BATCH_BYTES = 100 * 1024 * 1024;

/** The place of a line on its way. Held documents are pending; `refused` was never submitted. */
export const LINE_STATUSES = ['pending', 'accepted', 'conditional', 'rejected', 'in_process', 'refused'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

const lines = z.number().int().nonnegative();
const batchIdSchema = z.string().regex(/^\d{1,15}$/);

/** Answer of `POST /batches`. */
export const batchReceiptSchema = z.object({
  batch_id: batchIdSchema,
  total: lines.meta({ description: 'Number of documents' }),
  status_url: z.string().meta({ description: 'Path of the batch' }),
});

/** A batch. The counts add up to `total`. */
export const batchSchema = z.object({
  batch_id: batchIdSchema,
  status: z
    .enum(['processing', 'done', 'cancelled'])
    .meta({ description: 'processing until every line is decided or refused; cancelled if it was stopped' }),
  validate: z.boolean(),
  total: lines.meta({ description: 'Number of documents; the other counts add up to it' }),
  pending: lines,
  accepted: lines,
  conditional: lines,
  rejected: lines,
  in_process: lines,
  refused: lines,
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
});
export type BatchBody = z.infer<typeof batchSchema>;

/** Answer of `GET /batches`; `next` continues the list, null at its end. */
export const batchListSchema = z.object({
  count: lines,
  next: z.string().nullable(),
  batches: z.array(batchSchema),
});

/** The result of a line. Its fields are those of `/fe_Submit`; `error` is the answer to a document that was refused. */
export const batchResultSchema = z.object({
  line: z.number().int().positive(),
  encf: encfSchema.nullable(),
  issuer_rnc: rncSchema.nullable(),
  reference: referenceSchema.nullable().meta({ description: "The caller's own reference" }),
  status: z
    .union([invoiceStatusSchema, z.literal('Validado')])
    .nullable()
    .meta({ description: 'Null while the line is pending, and if it is refused' }),
  code: z.string().nullable(),
  track_id: trackIdSchema.nullable(),
  security_code: z.string().nullable(),
  qr_url: z.string().nullable(),
  messages: z
    .array(z.union([authorityMessageSchema, z.string()]))
    .meta({ description: "The authority's messages or, for a refused line, the reasons as text" }),
  faults: z.array(faultSchema),
  warnings: z.array(faultSchema),
  sequence_used: z.boolean().nullable(),
  error: z
    .object({
      status: z.number().int().meta({ description: 'The HTTP status that /fe_Submit would answer' }),
      ...errorBodySchema.pick({ code: true, message: true, items: true, detail: true }).shape,
    })
    .nullable()
    .meta({ description: 'The answer of /fe_Submit to a document that was refused; null for every other line' }),
});
export type BatchResult = z.infer<typeof batchResultSchema>;

/** Answer of `GET /batches/{batch_id}/results`. */
export const batchResultListSchema = z.object({
  count: lines,
  next: z.string().nullable(),
  results: z.array(batchResultSchema),
});
