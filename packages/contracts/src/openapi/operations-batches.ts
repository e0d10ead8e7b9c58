import {
  batchListSchema,
  batchReceiptSchema,
  batchResultListSchema,
  batchResultSchema,
  batchSchema,
} from '../http/batch.js';
import type { OperationId } from '../http/operations.js';
import { json, type OperationDescription } from './description.js';
import { EXAMPLES, invoiceData } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const TAG = 'Batches';

/** The operations of batches. */
export const BATCHES = {
  createBatch: {
    tag: TAG,
    summary: 'Takes up to 10,000 invoices in one request',
    description:
      'One document a line (NDJSON) or a JSON array, at most 100 MiB. The answer comes when every document is stored durably. Each line is then issued as /fe_Submit would; a line at fault is refused alone. An answer that /fe_Submit would give with Retry-After keeps the line pending. A note may refer to a document of the same batch, in any order. With idempotency-key, the same documents again find the first batch, with any FechaHoraFirma; other documents are 409. Lines without eNCF get the next number of a registered range; they are refused with idempotency_key_required if the batch has no key, and so is a batch of such lines only. A line may carry the reference of its document in your own system: {"ECF": ..., "reference": "..."}. With x-contingency: true, documents are signed while the authority is unreachable and are pending until they are sent.',
    parameters: [P.idempotencyKey, P.validate, P.warnings, P.contingency],
    body: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'array',
            minItems: 1,
            maxItems: 10_000,
            items: { $ref: '#/components/schemas/BatchDocument' },
          },
          example: [invoiceData],
        },
        'application/x-ndjson': {
          schema: { type: 'string', description: 'One {"ECF": …} a line.' },
          example: `${JSON.stringify(invoiceData)}\n`,
        },
      },
    },
    answers: {
      202: {
        description: 'Every document is stored.',
        content: json(batchReceiptSchema, EXAMPLES.batchReceipt),
        headers: {
          location: {
            description: 'Path of the batch.',
            required: true,
            schema: { type: 'string' },
            example: '/batches/1',
          },
        },
      },
    },
    errors: ['invalid_batch', 'idempotency_key_required', 'idempotency_conflict', 'unsupported_media_type'],
  },
  listBatches: {
    tag: TAG,
    summary: 'Lists the batches of the environment, newest first',
    description: 'A batch is deleted 30 days after it finished.',
    parameters: [P.batchAfter, P.limit, P.idempotencyKeyQuery],
    answers: { 200: { description: 'The batches.', content: json(batchListSchema, EXAMPLES.batchList) } },
  },
  findBatch: {
    tag: TAG,
    summary: 'Returns a batch with its counts',
    hasEtag: true,
    description:
      '`pending` lines are not submitted yet, `in_process` lines have no verdict yet, `refused` lines were never submitted. The batch is done when both of the first are 0.',
    parameters: [P.batchId],
    answers: { 200: { description: 'The batch.', content: json(batchSchema, EXAMPLES.batch) } },
    errors: ['not_found'],
  },
  batchResults: {
    tag: TAG,
    summary: 'Returns the results of a batch in the order of its lines',
    description: 'With Accept: application/x-ndjson, all results are streamed, one a line, without a limit.',
    parameters: [P.batchId, P.lineAfter, P.limit, P.onlyLines],
    answers: {
      200: {
        description: 'The results.',
        content: {
          ...json(batchResultListSchema, EXAMPLES.batchResults),
          'application/x-ndjson': { schema: batchResultSchema, example: EXAMPLES.batchResults.results[0] },
        },
      },
    },
    errors: ['not_found'],
  },
  cancelBatch: {
    tag: TAG,
    summary: 'Cancels the lines of a batch that have not begun',
    description: 'They become `refused` with the code batch_cancelled. Lines that began finish.',
    parameters: [P.batchId],
    answers: { 200: { description: 'The batch.', content: json(batchSchema, EXAMPLES.batch) } },
    errors: ['not_found'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
