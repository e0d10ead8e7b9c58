import { z } from 'zod';
import { approvalStatusSchema, authorityStatusSchema } from '../events/received-invoice.js';
import {
  ecfTypeSchema,
  environmentSchema,
  LISTING_SORTS,
  PERIODS,
  referenceSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../values.js';
import { optional } from './operation.js';

/** Parameters that several operations take. */

export const anyCaseEncf = z.string().regex(/^[Ee]\d{12}$/);
const idOfOurs = z.string().regex(/^[\w-]{1,64}$/);
const day = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);
const amount = z.string().regex(/^\d{1,18}(\.\d{1,2})?$/);
const PERIOD = 'Whole days in Dominican time.';

export const run = optional(
  runSchema,
  'The certification run of the issuer to which the document belongs. The default is the present run.',
  1,
);
export const issuerHeader = rncSchema.describe('RNC of the issuer, a taxpayer of the account.');
export const startDate = day.meta({ description: `First day, DD-MM-YYYY. ${PERIOD}`, examples: ['01-06-2026'] });
export const endDate = day.meta({ description: `Last day, DD-MM-YYYY. ${PERIOD}`, examples: ['31-12-2026'] });
export const buyerHeader = rncSchema.describe('RNC of the buyer, a taxpayer of the account.');
export const optionalBuyerHeader = rncSchema
  .optional()
  .describe(
    'RNC of the buyer of a received document. Required if several taxpayers of the account hold the number of one provider.',
  );
export const optionalProviderHeader = rncSchema
  .optional()
  .describe('RNC of the provider. Required if several providers sent the buyer an e-CF of this number.');
export const token = z
  .string()
  .min(1)
  .meta({ description: 'Token of the authority, from /obtain_token.', examples: ['eyJhbGciOi...'] });
export const authorization = optional(
  z.string(),
  'Token from /fe/autenticacion/api/validacioncertificado. Used only if PROVIDER_AUTH is `required`.',
  'Bearer eyJhbGciOi...',
);
export const encf = anyCaseEncf.describe('The eNCF: E and 12 digits; e counts as E.');
export const rnc = rncSchema.describe('RNC, 9 or 11 digits.');
export const batchId = z
  .string()
  .regex(/^\d{1,15}$/)
  .meta({ description: 'The batch_id in the response to the creation.', examples: ['1'] });
export const idempotencyKey = optional(
  z.string().min(1).max(255),
  '1 to 255 printable characters that name this content.',
  'invoices-2026-06-01-a',
);
export const submissionId = z
  .int()
  .positive()
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: 'The id in the response to the creation.', examples: [1] });
export const approvalId = z
  .int()
  .positive()
  .max(Number.MAX_SAFE_INTEGER)
  .meta({ description: 'The id in the response to the creation.', examples: [1] });
export const authorityStatusQuery = optional(
  authorityStatusSchema,
  `Only documents of which the authority says this. ${authorityStatusSchema.description}`,
  'unknown',
);
export const limit = z.int().min(1).max(1_000).default(200).describe('Maximum number of rows in the response.');
export const shortLimit = z.int().min(1).max(100).default(10).describe('Maximum number of rows in the response.');
export const offset = z.int().min(0).default(0).describe('Rows to skip in the order of `sort`.');
export const approvalStatusQuery = optional(approvalStatusSchema, 'Only of this approval_status.', 'pending');
export const providerQuery = rncSchema.optional().describe('Only this provider.');
export const ecfType = ecfTypeSchema.optional().describe('Only this type of e-CF.');
export const minAmount = optional(amount, 'Minimum total_amount, included.', '100.00');
export const maxAmount = optional(amount, 'Maximum total_amount, included.', '250000.00');
export const updatedSince = optional(
  timestampSchema,
  'Only documents that changed then or later, in status, delivery or approval: an instant in ISO 8601 with offset.',
  '2026-06-15T10:00:00-04:00',
);
export const sort = z
  .enum(LISTING_SORTS)
  .default('-created_at')
  .describe('The order; a leading minus means descending. Equal values are in the order of their ids.');
export const cursor = optional(
  z.string(),
  '`next_cursor` of the last page. Everything else but `limit` must be as for the first page.',
  'WyIyMDI2LTA2LTE1VDE0OjAwOjAwLjAwMFoiLDEsMSwiUm9FWUhrM2NEZ1B6Il0',
);
export const contingency = optional(
  z.enum(['true', 'false']),
  'true: if the authority cannot be reached, the document is signed and stored, and is sent when the authority answers again.',
  'true',
);
export const period = z
  .enum(PERIODS)
  .default('created')
  .meta({
    description:
      'The day that start-date and end-date select by: that of the creation here (of received documents: of the arrival), or the date of issue that the document states.',
    examples: ['issued'],
  });
export const bom = optional(
  z.enum(['true', 'false', '1', '0']),
  'true begins a CSV response with a byte order mark, by which Excel reads it as UTF-8. JSON never has one.',
  'true',
);
export const printFormat = z
  .enum(['letter', 'ticket'])
  .default('letter')
  .describe('letter: letter paper. ticket: a roll of paper 80 mm wide.');
export const printLanguage = z.enum(['es']).default('es').describe('The language; only Spanish.');
export const reference = referenceSchema
  .optional()
  .describe(
    "The caller's own reference, 1 to 100 printable ASCII characters. Stored with the document; it need not be unique.",
  );
export const validate = optional(
  z.enum(['true', 'false', '1', '0']),
  'true only checks the document. The document is not stored and not sent; the status is Validado.',
  'true',
);
export const warnings = optional(
  z.enum(['refuse', 'accept']),
  'refuse: a warning refuses the document before a number is used, and `faults` has it with `severity` warning. The default is `refuse_warnings` of the API key.',
  'refuse',
);
export const submit = z.enum(['true', 'false']).default('true').describe('false only signs and stores.');
export const issuerQuery = rncSchema.describe('RNC of the issuer.');
export const accountId = idOfOurs.meta({
  description: 'Id of the account.',
  examples: ['2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e'],
});
export const keyId = idOfOurs.meta({
  description: 'Id of the API key.',
  examples: ['7f1e2d3c-4b5a-4968-8776-655443322110'],
});
export const webhookId = idOfOurs.meta({
  description: 'Id of the webhook.',
  examples: ['0c9d1f7e-62b3-4f0c-8f5e-5f1c8e2a7b10'],
});
export const administratorId = idOfOurs.meta({
  description: 'Id of the administrator.',
  examples: ['5d4c3b2a-1908-4f7e-8d6c-5b4a39281706'],
});

export const ENV = environmentSchema.default('TesteCF').describe('The environment. The default is TesteCF.');
export const PUBLIC_ENV = optional(
  z.string(),
  'TesteCF, CerteCF or eCF, in any case. A prefix of the path takes precedence. Without the header, or with another value, DEFAULT_ENV of the deployment applies.',
  'TesteCF',
);
export const REQUEST_ID_HEADER = optional(
  z.string().max(8_192),
  'The id of the request, if it has up to 128 letters, digits and `._:@/+=-`. Otherwise the gateway replaces it.',
  'erp-4711',
);
export const IF_NONE_MATCH = optional(
  z.string().max(8_192),
  'The ETag of the response that the caller has.',
  '"n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"',
);
