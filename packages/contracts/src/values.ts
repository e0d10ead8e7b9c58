import { ECF_TYPES, ENVIRONMENTS, isStorableText } from '@ecf/domain';
import { z } from 'zod';

/** The three environments of the authority, as the header `env` and every record name them. */
export const environmentSchema = z.enum(ENVIRONMENTS).meta({ id: 'Environment' });

/** What is wrong with a number where text is expected; other kinds of values keep the usual message. */
const textExpected = ({ input }: { readonly input: unknown }): string | undefined =>
  typeof input === 'number' ? 'send it as text: a number loses its leading zeros' : undefined;

/** 9 or 11 digits: a company's RNC or a person's identity number. */
export const rncSchema = z.string({ error: textExpected }).regex(/^(\d{9}|\d{11})$/, 'an RNC has 9 or 11 digits');

/** `E` and 12 digits. */
export const encfSchema = z.string({ error: textExpected }).regex(/^E\d{12}$/, 'an eNCF is E and 12 digits');

/**
 * A trackId, in practice a UUID. The authority specifies no form, so the schema refuses only texts that cannot be a trackId
 * or cannot be queried.
 */
export const trackIdSchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,100}$/, 'a trackId is at most 100 printable characters without blanks');

/** A trackId that a caller attributes to the authority: letters, digits, hyphens and underscores, as in its answers. */
export const givenTrackIdSchema = z
  .string()
  .trim()
  .regex(/^[\w-]{1,64}$/, 'a trackId is at most 64 letters, digits, hyphens and underscores, a UUID in practice');

/** The caller's own reference of a document, from its own system. It need not be unique. */
export const referenceSchema = z
  .string()
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,98}[\x21-\x7e])?$/, 'a reference has 1 to 100 printable ASCII characters');

/** The ten types of e-CF. */
export const ecfTypeSchema = z.enum(ECF_TYPES).meta({ id: 'EcfType' });

/** ISO 8601 with an offset. */
export const timestampSchema = z.iso.datetime({ offset: true });

/** `YYYY-MM-DD`. */
export const dateSchema = z.iso.date();

/** A decimal number with two decimals, written as text. */
export const amountSchema = z.string().regex(/^-?\d+\.\d{2}$/, 'an amount has two decimals');

/** The highest number of a certification run. */
export const MOST_RUNS = 1_000_000;

/** A certification run of a taxpayer in an environment, counted from 1. */
export const runSchema = z.int().positive().max(MOST_RUNS);

/** Free text of a request. Text that cannot be stored unchanged (NUL, half of a surrogate pair) is refused, not replaced. */
export const freeTextSchema = z
  .string()
  .refine(isStorableText, 'A text has neither the character NUL nor half of a surrogate pair.');

/** An object schema that becomes a component of the OpenAPI document under this name. */
export const named = <S extends z.core.$ZodLooseShape>(
  id: string,
  shape: S,
  meta: { readonly description?: string; readonly examples?: unknown[] } = {},
) => z.object(shape).meta({ id, ...meta });

/** The orders of a listing. A leading minus means descending; documents with equal values are in the order of their ids. */
export const LISTING_SORTS = ['created_at', '-created_at', 'total_amount', '-total_amount'] as const;
export type ListingSort = (typeof LISTING_SORTS)[number];

/** The day of a document that a period selects by: of its creation (received documents: of its arrival), or of its issue. */
export const PERIODS = ['created', 'issued'] as const;
export type Period = (typeof PERIODS)[number];

/** Where the next page of a listing begins. */
export const nextCursorSchema = z.string().nullable().describe('`cursor` of the next page; null on the last page');

/** The query of a listing of the administration. */
export const pageQuerySchema = (rows = 1_000) =>
  z.object({
    limit: z.coerce.number().int().min(1).max(1_000).default(rows).describe('Maximum number of rows in the response.'),
    offset: z.coerce.number().int().min(0).max(10_000_000).default(0).describe('Rows to skip.'),
  });
