import { z } from 'zod';
import { encfSchema, timestampSchema } from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { faultSchema } from './error-body.js';

/** Answer of `GET /obtain_token`; `expires_in` in seconds as the specification fixes it, `expires_at` the token's true end. */
export const tokenResponseSchema = z.object({
  token: z.string(),
  expires_in: z.number().int().nonnegative(),
  token_type: z.literal('Bearer'),
  expires_at: timestampSchema,
});

/** Body of `/submit_ecf` and `/submit_fc`. */
export const xmlItemSchema = z.object({ xml: z.string().min(1) });

/** What all three submission endpoints answer. `Validado` is the status of a dry run, which has none of what a signature gives. */
const documentAnswerSchema = z.object({
  status: z.union([invoiceStatusSchema, z.literal('Validado')]),
  messages: z.array(authorityMessageSchema),
  encf: encfSchema,
  qr_url: z.string().nullable(),
  security_code: z.string().nullable(),
  signature_datetime: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    .nullable()
    .meta({ description: 'YYYY-MM-DD HH:MM:SS, Dominican time' }),
  sequence_used: z.boolean().nullable(),
  warnings: z.array(faultSchema),
});

/** Answer of `/fe_Submit`: `trackId` on the route of full documents, `rfce_xml` on the summary's. */
export const submissionResponseSchema = documentAnswerSchema.extend({
  xml: z.string(),
  trackId: z.string().nullable().optional(),
  rfce_xml: z.string().optional(),
});

/** Answer of `/submit_ecf`. */
export const ecfResponseSchema = documentAnswerSchema.extend({ trackId: z.string().nullable() });

/** Answer of `/submit_fc`. */
export const rfceResponseSchema = documentAnswerSchema;

export type TokenResponse = z.infer<typeof tokenResponseSchema>;
export type XmlItem = z.infer<typeof xmlItemSchema>;
export type SubmissionResponse = z.infer<typeof submissionResponseSchema>;
export type EcfResponse = z.infer<typeof ecfResponseSchema>;
export type RfceResponse = z.infer<typeof rfceResponseSchema>;
