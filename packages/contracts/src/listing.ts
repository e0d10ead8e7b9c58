import { z } from 'zod';

/** The orders of a listing. A leading minus means descending; documents with equal values are in the order of their ids. */
export const LISTING_SORTS = ['created_at', '-created_at', 'total_amount', '-total_amount'] as const;
export type ListingSort = (typeof LISTING_SORTS)[number];

/** The day of a document that a period selects by: of its creation (received documents: of its arrival), or of its issue. */
export const PERIODS = ['created', 'issued'] as const;
export type Period = (typeof PERIODS)[number];

/** Where the next page of a listing begins. */
export const nextCursorSchema = z.string().nullable().describe('`cursor` of the next page; null on the last page');
