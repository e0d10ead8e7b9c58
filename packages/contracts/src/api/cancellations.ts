import { parseStatedTime } from '@ecf/domain';
import { z } from 'zod';
import {
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  freeTextSchema,
  named,
  rncSchema,
  timestampSchema,
} from '../values.js';
import { ANECF_XML } from './examples.js';
import { READ_CANCELLED } from './key-rights.js';
import { AUTHORITY_ERRORS, CERTIFICATE_ERRORS, publicOperations, xml } from './operation.js';
import * as P from './parameters.js';

/** Most lines of a cancellation, and most ranges of a line. Source: Formato Anulación de e-NCF v1.0 pp.4-7. */
const MAX_CANCELLATION_LINES = 10;
export const MAX_CANCELLATION_RANGES = 10_000;

const MAX_CANCELLATION_REASON = 1_000;

const quantitySchema = z.int().positive();

const computedCountSchema = quantitySchema.nullish().describe('Computed where absent or null');

/** Numbers from `encf_desde` to `encf_hasta`, both included; equal for a single number. */
const cancellationRangeRequestSchema = z.strictObject({
  encf_desde: encfSchema,
  encf_hasta: encfSchema,
  quantity_canceled: computedCountSchema,
});

/** Ranges of one type of e-CF. */
const cancellationLineRequestSchema = z.strictObject({
  line_number: z.int().min(1).max(MAX_CANCELLATION_LINES).nullish().describe('Counts from 1'),
  ecf_type: ecfTypeSchema,
  total_encf_canceled: computedCountSchema,
  sequence_ranges: z.array(cancellationRangeRequestSchema).min(1).max(MAX_CANCELLATION_RANGES),
});

/** Body of `POST /anecf/`; null counts as absent. Emission also checks the rules between fields: counts, order, overlaps. */
export const cancellationRequestSchema = z
  .strictObject({
    version: z.literal('1.0').nullish(),
    issuer_rnc: rncSchema,
    total_encf_canceled: computedCountSchema,
    generation_datetime: z
      .string()
      .refine((text) => parseStatedTime(text) !== null, 'an ISO 8601 time of this century that exists')
      .nullish()
      .describe('ISO 8601; without offset it is Dominican time; the time of signing where absent'),
    authority_environment: environmentSchema,
    cancellation_reason: freeTextSchema
      .max(MAX_CANCELLATION_REASON)
      .nullish()
      .describe('Kept here; the document has no such field'),
    detail_lines: z.array(cancellationLineRequestSchema).min(1).max(MAX_CANCELLATION_LINES),
  })
  .meta({ id: 'CancellationRequest' });

/** The authority's decision about a cancellation or one of its ranges. */
export const cancellationStatusSchema = z.enum(['Aceptado', 'Parcial', 'Rechazado', 'submitted', 'failed']);
export type CancellationStatus = z.infer<typeof cancellationStatusSchema>;

/** A range with its counts; `authority_status` is the outcome of its numbers. */
const cancellationRangeSchema = z.object({
  id: z.int().positive(),
  encf_desde: encfSchema,
  encf_hasta: encfSchema,
  quantity_canceled: quantitySchema,
  authority_status: z
    .enum(['Aceptado', 'Parcial', 'Rechazado'])
    .nullable()
    .describe('The outcome of the numbers of the range; null until it is decided'),
});

/** A stored cancellation. */
export const cancellationSchema = named('Cancellation', {
  id: z.int().positive(),
  version: z.string(),
  issuer_rnc: rncSchema,
  total_encf_canceled: quantitySchema,
  generation_datetime: timestampSchema.describe('When the cancellation was made'),
  authority_environment: environmentSchema,
  cancellation_reason: z.string().nullable().describe('The reason; kept here, the authority does not get it'),
  detail_lines: z.array(
    z.object({
      id: z.int().positive(),
      line_number: z.int().positive().describe('Counts from 1'),
      ecf_type: ecfTypeSchema,
      total_encf_canceled: quantitySchema,
      sequence_ranges: z.array(cancellationRangeSchema),
    }),
  ),
  sent_to_authority: z.boolean(),
  sent_at: timestampSchema.nullable(),
  authority_status: cancellationStatusSchema
    .nullable()
    .describe(
      'The decision of the authority: Aceptado, Parcial, Rechazado, submitted (sent, not decided), failed; null if it was not sent',
    ),
  authority_response: z.string().nullable(),
  xml_storage_path: z.string(),
  xml_checksum: z.string(),
  xml_schema_version: z.string(),
  created_at: timestampSchema,
  created_by: z.string().nullable(),
});
export type CancellationRecord = z.infer<typeof cancellationSchema>;

const cancellationListSchema = z.array(cancellationSchema);

export const CANCELLATIONS = publicOperations('Cancellation', 'emission', {
  createCancellation: {
    route: 'POST /anecf',
    scopes: ['cancel'],
    environmentInBody: true,
    summary: 'Cancels ranges of unused eNCF',
    description:
      'The gateway signs and stores the cancellation and sends it to the authority, which may accept some ranges and refuse others (Parcial). The response is the record, whatever the authority says. Without the header env, the environment of the body counts; different values in header and body are 422.',
    query: { submit_to_authority: P.submit },
    body: cancellationRequestSchema,
    status: 201,
    response: cancellationSchema,
    errors: [
      'document_too_costly',
      'taxpayer_not_found',
      'unsupported_media_type',
      'encf_in_use',
      'commit_unconfirmed',
      'encf_cancelled',
      'conflict',
      'service_not_in_environment',
      ...AUTHORITY_ERRORS,
      ...CERTIFICATE_ERRORS,
    ],
  },
  listCancellations: {
    route: 'GET /anecf',
    scopes: READ_CANCELLED,
    summary: 'Lists the cancellations of an issuer, newest first',
    description: 'Each record has the decision of the authority for each range.',
    query: { issuer_rnc: P.issuerQuery, limit: P.shortLimit, offset: P.offset },
    response: cancellationListSchema,
    errors: ['taxpayer_not_found'],
  },
  findCancellation: {
    route: 'GET /anecf/{submission_id}',
    scopes: READ_CANCELLED,
    summary: 'Returns one cancellation',
    description: 'A cancellation without a final answer is queried or sent again by the gateway.',
    params: { submission_id: P.submissionId },
    response: cancellationSchema,
    hasEtag: true,
    errors: ['not_found'],
  },
  cancellationXml: {
    route: 'GET /anecf/{submission_id}/xml',
    scopes: READ_CANCELLED,
    summary: 'Returns the signed ANECF',
    description: 'It is the document that was sent to the authority, or would have been with submit_to_authority=true.',
    params: { submission_id: P.submissionId },
    response: xml('The bytes as they were signed.', ANECF_XML),
    hasEtag: true,
    errors: ['not_found', 'document_damaged'],
  },
});
