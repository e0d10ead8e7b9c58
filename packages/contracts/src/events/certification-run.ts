import { RUN_ENVIRONMENTS } from '@ecf/domain';
import { z } from 'zod';
import { rncSchema, runSchema, timestampSchema } from '../values.js';

/** `run.started` */
export const runStartedSchema = z
  .object({
    env: z.enum(RUN_ENVIRONMENTS),
    issuer_rnc: rncSchema,
    account_id: z.string().min(1),
    run: runSchema.min(2),
    started_at: timestampSchema,
  })
  .describe(
    'A certification run of a taxpayer begins: its documents of earlier runs in this environment are superseded, and their numbers are free.',
  );
export type RunStarted = z.infer<typeof runStartedSchema>;
