import { z } from 'zod';
import { ecfTypeSchema, encfSchema, environmentSchema, named, rncSchema, timestampSchema } from '../values.js';

/** A number range that the authority granted; only registered ones are checked. Dates are YYYY-MM-DD or null. */
export const numberRangeSchema = named('NumberRange', {
  env: environmentSchema,
  ecf_type: ecfTypeSchema,
  from: encfSchema,
  to: encfSchema,
  expires: z.iso.date().nullable(),
});
export type NumberRange = z.infer<typeof numberRangeSchema>;

/** A stored certificate, without its key. Times in Dominican time. */
export const certificateFactsSchema = named('CertificateFacts', {
  subject: z.string(),
  serial_number: z.string(),
  not_before: z.string().describe('When the certificate begins to be valid'),
  not_after: z.string().describe('When the certificate expires'),
  fingerprint: z.string(),
});
export type CertificateFactsBody = z.infer<typeof certificateFactsSchema>;

/** `taxpayer.changed`, and a row of the internal list of the taxpayers of an account. */
export const taxpayerStateSchema = z
  .object({
    rnc: rncSchema,
    account_id: z.string().min(1),
    account_active: z.boolean(),
    revision: z
      .int()
      .positive()
      .describe('Increases with every change in the deployment; a consumer keeps the highest of an RNC'),
    previous_revision: z
      .int()
      .nonnegative()
      .describe(
        'The revision of the account before this change: a consumer that has the account up to it now has it up to `revision`',
      ),
    name: z.string(),
    active: z.boolean(),
    certificate: z
      .base64()
      .nullable()
      .describe('The certificate, sealed under MASTER_KEY for the account and the RNC; null without one'),
    fingerprint: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    certificate_facts: certificateFactsSchema.nullish(),
    logo_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullish()
      .describe(
        'SHA-256 of the logo on printed forms, which `GET /internal/taxpayers/{rnc}/logo` returns; null without one',
      ),
    ranges: z.array(numberRangeSchema),
    created_at: timestampSchema,
  })
  .describe('The whole present state of a taxpayer.');
export type TaxpayerState = z.infer<typeof taxpayerStateSchema>;

/** Response of `GET /internal/accounts/{id}/taxpayers`: complete up to `revision`. */
export const accountTaxpayersSchema = z.object({
  account_id: z.string(),
  revision: z.int().nonnegative(),
  taxpayers: z.array(taxpayerStateSchema),
});
export type AccountTaxpayers = z.infer<typeof accountTaxpayersSchema>;
