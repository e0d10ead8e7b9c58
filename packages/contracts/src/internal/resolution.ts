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
import { encfSchema, rncSchema } from '../environment.js';
import { numberRangeSchema } from '../events/taxpayer.js';
import type { InternalHandlers } from './internal.js';

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
  numbersLeft: {
    path: '/internal/numbers/left',
    callers: ['gateway'],
    request: z.object({ issuer_rnc: rncSchema, ranges: z.array(numberRangeSchema) }),
    answer: numbersLeftSchema,
  },
  listAlarmed: {
    path: '/internal/emissions/alarmed',
    callers: ['gateway'],
    request: alarmedFilterSchema,
    answer: alarmedPageSchema,
  },
  /** 404 `not_found` if no document was issued under the number, 409 `conflict` if the document needs no decision. */
  resolveDocument: {
    path: '/internal/emissions/resolve',
    callers: ['gateway'],
    request: resolutionSchema.and(actedSchema),
    answer: resolvedDocumentSchema,
  },
  listDoubtful: {
    path: '/internal/cancellations/doubtful',
    callers: ['gateway'],
    request: doubtfulFilterSchema,
    answer: doubtfulPageSchema,
  },
  /** 404 `not_found`; 409 `conflict` if it has no alarm, or is being sent. */
  settleCancellation: {
    path: '/internal/cancellations/settle',
    callers: ['gateway'],
    request: settlementSchema.and(actedSchema),
    answer: doubtfulCancellationSchema,
  },
  /** 409 `conflict` while another start for the taxpayer and environment is in work. */
  startRun: {
    path: '/internal/runs/start',
    callers: ['gateway'],
    request: z.object({ ...newRunSchema.shape, account_id: z.string().min(1), issuer_rnc: rncSchema }).and(actedSchema),
    answer: startedRunSchema,
  },
} as const;

export type ResolutionOperations = InternalHandlers<typeof RESOLUTION_OPERATIONS>;
