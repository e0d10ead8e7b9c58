import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { faultSchema } from './error-body.js';

/** Answer of `GET /obtain_token`; `expires_in` in seconds as the specification fixes it, `expires_at` the token's true end. */
export const tokenResponseSchema = z.object({
  token: z.string().meta({ description: 'The token of the authority, for the header x-token' }),
  expires_in: z
    .number()
    .int()
    .nonnegative()
    .meta({ description: '3600, as the specification fixes it; expires_at has the true end' }),
  token_type: z.literal('Bearer').meta({ description: 'How the authority expects the token' }),
  expires_at: timestampSchema.meta({ description: 'When the token expires' }),
});

/** Body of `/submit_ecf` and `/submit_fc`. */
export const xmlItemSchema = z.object({ xml: z.string().min(1).meta({ description: 'The signed document' }) });

/**
 * The common answer of the three submission endpoints. `Validado` is the status of a dry run, which has no fields of a
 * signature.
 */
const documentAnswerSchema = z.object({
  status: z
    .union([invoiceStatusSchema, z.literal('Validado')])
    .meta({ description: "The authority's status of the document; Validado for a document that was only checked" }),
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

/** The text that the printed form of a contingency document shows. Source: Informe Técnico, printed form. */
export const CONTINGENCY_LEGEND =
  'e-CF emitido en modalidad de Contingencia, el cual podrá ser consultado para su validez fiscal, a partir de las setenta y dos (72) horas.';

/** A document that was signed while the authority was away. */
export const contingencySchema = z.object({
  since: timestampSchema.meta({ description: 'Since when the authority was away' }),
  legend: z.string(),
  deadline: timestampSchema
    .nullable()
    .meta({ description: '72 hours after the return of the authority; null before it' }),
});
export type ContingencyBody = z.infer<typeof contingencySchema>;

/** Answer of `GET /contingency`: documents that wait for the authority, oldest first. */
export const contingencyListSchema = z.object({
  count: z.number().int().nonnegative(),
  total: z.number().int().nonnegative().meta({ description: 'Number of all documents that wait' }),
  next: z.string().nullable(),
  documents: z.array(
    z.object({
      encf: encfSchema,
      issuer_rnc: rncSchema,
      env: environmentSchema,
      signed_at: timestampSchema,
      deadline: timestampSchema.nullable(),
    }),
  ),
});
export type ContingencyList = z.infer<typeof contingencyListSchema>;

/** Answer of `/fe_Submit`: `trackId` for a full document, `rfce_xml` for a summary. */
export const submissionResponseSchema = documentAnswerSchema.extend({
  encf: encfSchema.nullable().meta({ description: 'Null only for the dry run of a document without eNCF.' }),
  xml: z.string(),
  trackId: z.string().nullable().optional(),
  rfce_xml: z.string().optional(),
  contingency: contingencySchema.optional(),
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
