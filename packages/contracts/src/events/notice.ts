import { z } from 'zod';
import { encfSchema, rncSchema, timestampSchema } from '../values.js';
import { certificateFactsSchema, numberRangeSchema } from './taxpayer.js';

/** `range.low` and `range.expiring` */
export const rangeNoticeSchema = z
  .object({
    issuer_rnc: rncSchema,
    account_id: z.string().min(1),
    range: numberRangeSchema,
    next: encfSchema.nullable().describe('The number that would be given next; null if none is left'),
    remaining: z.int().nonnegative().describe('Numbers of the range that are not used, cancelled or reserved'),
    published_at: timestampSchema,
  })
  .describe(
    'A registered range of numbers that comes to its end. `range.low`: 10 % or 1,000 numbers are left, whichever is less; it is published once for each last number of a range. `range.expiring`: the range ends within 30 days; it is published once for each day of expiry.',
  );
export type RangeNotice = z.infer<typeof rangeNoticeSchema>;

/** `certificate.expiring` */
export const certificateNoticeSchema = z
  .object({ issuer_rnc: rncSchema, account_id: z.string().min(1), certificate: certificateFactsSchema })
  .describe('The stored certificate of a taxpayer ends within 30 days. It is published once for each certificate.');
export type CertificateNotice = z.infer<typeof certificateNoticeSchema>;
