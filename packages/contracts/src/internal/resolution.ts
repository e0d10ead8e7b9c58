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
import { numberRangeSchema } from '../events/taxpayer.js';
import { encfSchema, rncSchema } from '../values.js';
import { type InternalHandlers, internalOperation } from './internal.js';

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
