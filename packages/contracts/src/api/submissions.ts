import { z } from 'zod';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { encfSchema, environmentSchema, named, referenceSchema, rncSchema, timestampSchema } from '../values.js';
import { faultSchema } from './error-body.js';
import { INVOICE, TRACK_ID } from './examples.js';
import { READ_SUBMITTED } from './key-rights.js';
import { AUTHORITY_ERRORS, CERTIFICATE_ERRORS, optional, publicOperations } from './operation.js';
import * as P from './parameters.js';

/** The elements of a document by the authority's names. */
const elementsSchema = z.looseObject({});

/** The elements of an e-CF. Its component in the document is `Ecf` of the catalogue; requests are checked by the services. */
const ecfSchema = elementsSchema.meta({ id: 'Ecf' });

/** An invoice in JSON, as it is submitted and as it is read back. */
export const invoiceDocumentSchema = named(
  'InvoiceDocument',
  { ECF: ecfSchema.describe('The elements of the document: Encabezado, DetallesItems, ...') },
  {
    examples: [{ ECF: INVOICE }],
    description:
      'An invoice under its root ECF, with the names and the nesting of the authority (reference: docs/rules.md; for editors: /schemas/{type}.json). Values are text. Amounts, quantities and percentages may be numbers; RNC, codes, dates and telephone numbers may not, because a number loses its leading zeros. Dates are DD-MM-YYYY.',
  },
);

/** A line of a batch. */
export const batchDocumentSchema = invoiceDocumentSchema
  .extend({
    reference: referenceSchema
      .optional()
      .describe('The reference of the document in your own system; it need not be unique'),
  })
  .meta({ examples: [{ ECF: INVOICE }], id: 'BatchDocument', description: 'An invoice of a batch' });

/** An issued document that is read back. */
export const issuedDocumentSchema = named(
  'IssuedDocument',
  {
    ECF: ecfSchema.optional().describe('The elements of the e-CF'),
    RFCE: elementsSchema.optional().describe('The elements of the summary, if only a signed summary was submitted'),
  },
  { examples: [{ ECF: { ...INVOICE, FechaHoraFirma: '15-06-2026 10:00:00' } }], description: 'Either ECF or RFCE' },
);

/** Response of `GET /obtain_token`; `expires_in` in seconds as the specification fixes it, `expires_at` the token's true end. */
const tokenResponseSchema = named('TokenResponse', {
  token: z.string().describe('The token of the authority, for the header x-token'),
  expires_in: z.int().nonnegative().describe('3600, as the specification fixes it; expires_at has the true end'),
  token_type: z.literal('Bearer').describe('How the authority expects the token'),
  expires_at: timestampSchema.describe('When the token expires'),
});

const xmlItemSchema = named('XmlItem', { xml: z.string().min(1).describe('The signed document') });

/**
 * The common response of the three submission endpoints. `Validado` is the status of a dry run, which has no fields of a
 * signature.
 */
const documentAnswerSchema = z.object({
  status: z
    .union([invoiceStatusSchema, z.literal('Validado')])
    .describe("The authority's status of the document; Validado for a document that was only checked"),
  messages: z.array(authorityMessageSchema),
  encf: encfSchema,
  qr_url: z.string().nullable(),
  security_code: z.string().nullable(),
  signature_datetime: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    .nullable()
    .describe('YYYY-MM-DD HH:MM:SS, Dominican time'),
  sequence_used: z.boolean().nullable(),
  warnings: z.array(faultSchema),
});

/** A document that was signed while the authority was unreachable. */
export const contingencySchema = z.object({
  since: timestampSchema.describe('Since when the authority was unreachable'),
  legend: z.string().describe('The text that the printed document must show'),
  deadline: timestampSchema.nullable().describe('72 hours after the return of the authority; null before it'),
});
export type ContingencyBody = z.infer<typeof contingencySchema>;

/** Response of `GET /contingency`: documents that wait for the authority, oldest first. */
const contingencyListSchema = named('ContingencyList', {
  count: z.int().nonnegative(),
  total: z.int().nonnegative().describe('Number of all documents that wait'),
  next: z.string().nullable(),
  documents: z.array(
    z.object({
      encf: encfSchema,
      issuer_rnc: rncSchema,
      env: environmentSchema,
      signed_at: timestampSchema,
      deadline: timestampSchema
        .nullable()
        .describe("The end of the 72 hours after the authority's return; null before it"),
    }),
  ),
});
export type ContingencyList = z.infer<typeof contingencyListSchema>;

/** Response of `/fe_Submit`: `trackId` for a full document, `rfce_xml` for a summary. */
const submissionResponseSchema = documentAnswerSchema
  .extend({
    encf: encfSchema.nullable().describe('Null only for the dry run of a document without eNCF.'),
    xml: z.string().describe('The signed document, byte for byte'),
    trackId: z
      .string()
      .nullable()
      .optional()
      .meta({ examples: [TRACK_ID] }),
    rfce_xml: z.string().optional().describe('The signed summary, if one was sent'),
    contingency: contingencySchema
      .optional()
      .describe('Present if the document was signed while the authority was unreachable'),
  })
  .meta({
    id: 'SubmissionResponse',
    description:
      "The authority's verdict, or EnProceso. A note to a document that is not accepted yet is EnProceso with a message that names it.",
  });

const ecfResponseSchema = documentAnswerSchema.extend({ trackId: z.string().nullable() }).meta({
  id: 'EcfResponse',
  description:
    'The authority received it; or it is EnProceso without trackId, because the document in its message is not accepted yet.',
});

const rfceResponseSchema = documentAnswerSchema.meta({
  id: 'RfceResponse',
  description: "The authority's verdict.",
});
export type XmlItem = z.infer<typeof xmlItemSchema>;

const SIGNED = [
  'invalid_json',
  'not_utf8',
  'invalid_xml',
  'invalid_document',
  'document_too_costly',
  'wrong_endpoint',
  'invalid_token',
  'taxpayer_not_found',
  'not_found',
  'encf_already_used',
  'encf_cancelled',
  'conflict',
  'unsupported_media_type',
  'document_damaged',
  'commit_unconfirmed',
  ...AUTHORITY_ERRORS,
  ...CERTIFICATE_ERRORS,
] as const;

export const SUBMISSIONS = publicOperations('Emission', 'emission', {
  obtainToken: {
    route: 'GET /obtain_token',
    scopes: ['submit'],
    summary: "Returns the authority's token of a taxpayer",
    description:
      'Gets a seed, signs it and exchanges it for a token, in one call. The gateway caches the token while it is valid.',
    headers: {
      'rnc-issuing': rncSchema
        .optional()
        .describe(
          "RNC of the taxpayer whose certificate logs in. The default is the account's oldest taxpayer with a valid certificate.",
        ),
    },
    response: tokenResponseSchema,
    errors: ['not_found', 'taxpayer_not_found', ...AUTHORITY_ERRORS, ...CERTIFICATE_ERRORS],
  },
  submitJson: {
    route: 'POST /fe_Submit',
    scopes: ['submit'],
    summary: 'Checks, signs, stores and sends an invoice in JSON',
    description:
      'A type 32 under 250,000.00 goes to the authority as a summary (no trackId, with an immediate verdict), all other documents as full e-CF. The same invoice again gets the stored response; FechaHoraFirma does not count in the comparison, and amounts are compared by value. If a number range is registered for the type, eNCF and FechaVencimientoSecuencia may be left out: the service gives the next number, and idempotency-key is required. A key names one submission for 30 days, also of a document with eNCF: the same document gets its response again, another document or number is 409 idempotency_conflict. If the authority does not answer after the signature, the status is EnProceso and the gateway continues to send.',
    query: { validate: P.validate, warnings: P.warnings },
    headers: { 'idempotency-key': P.idempotencyKey, 'x-reference': P.reference, 'x-contingency': P.contingency },
    body: {
      'multipart/form-data': z
        .object({
          data: invoiceDocumentSchema.describe('The invoice as JSON.'),
          certificate: z.file().optional().describe('PKCS#12 file (.p12, .pfx) that signs instead of the stored one.'),
          password: z.string().optional().describe('Password of the certificate file.'),
        })
        .meta({
          encoding: {
            data: { contentType: 'application/json, text/plain, application/octet-stream' },
            certificate: { contentType: 'application/x-pkcs12, application/octet-stream' },
          },
        }),
      'application/json': invoiceDocumentSchema,
    },
    response: submissionResponseSchema,
    errors: [...SIGNED, 'idempotency_key_required', 'idempotency_conflict', 'range_exhausted', 'range_expired'],
  },
  submitSigned: {
    route: 'POST /submit_ecf',
    scopes: ['submit'],
    summary: 'Stores and sends a signed e-CF',
    description:
      'The gateway checks the signature and the document, keeps the bytes unchanged and sends them. The same bytes again get the stored response.',
    query: { validate: P.validate },
    headers: { 'x-token': P.token, 'x-reference': P.reference },
    body: xmlItemSchema,
    response: ecfResponseSchema,
    errors: [...SIGNED, 'authority_timeout'],
  },
  submitSignedSummary: {
    route: 'POST /submit_fc',
    scopes: ['submit'],
    summary: 'Stores and sends a signed summary (RFCE) of a consumer invoice under 250,000.00',
    description: 'The gateway keeps the summary only; the caller must keep the full e-CF.',
    query: { validate: P.validate },
    headers: { 'x-token': P.token, 'x-reference': P.reference },
    body: xmlItemSchema,
    response: rfceResponseSchema,
    errors: SIGNED,
  },
  listWaiting: {
    route: 'GET /contingency',
    scopes: READ_SUBMITTED,
    summary: 'Lists the documents that wait for the authority, oldest first',
    description:
      'They were signed with `x-contingency: true` while the authority could not be reached. The gateway sends them when it answers again; `deadline` is set then. A note waits for the document that it modifies, too.',
    query: {
      after: optional(z.string().regex(/^\d+$/), '`next` of the last page.', '0'),
      limit: P.limit,
    },
    response: contingencyListSchema,
  },
});
