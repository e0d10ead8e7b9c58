import { z } from 'zod';
import { batchSchema } from '../api/batches.js';
import { environmentSchema, rncSchema } from '../values.js';

/** `batch.done`: every line of a batch is final. It is published once. */
export const batchDoneSchema = z.object({
  env: environmentSchema,
  account_id: z.string().min(1),
  taxpayers: z
    .array(rncSchema)
    .nullable()
    .describe('The taxpayers that the key of the batch is limited to; null if it is not limited'),
  issuer_rnc: rncSchema.nullable().describe('The issuer, if all documents name the same one'),
  batch: batchSchema,
});
export type BatchDone = z.infer<typeof batchDoneSchema>;
