import type { InvoiceFilters } from '../../data/invoices.js';

/** What a person looks for: one document, or the documents that a filter matches. */
export type Wanted =
  | { readonly encf: string }
  | { readonly trackId: string }
  | { readonly filters: Pick<InvoiceFilters, 'buyer' | 'name' | 'reference'> };

const ENCF = /^E\d{12}$/i;
/** The form of the authority's trackIds. */
const TRACK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const RNC = /^(\d{9}|\d{11})$/;

/** Reads the text of the search field: an eNCF, a trackId, an RNC, `#` and an own reference, or part of a name. */
export function wantedOf(text: string): Wanted {
  const trimmed = text.trim();
  if (ENCF.test(trimmed)) return { encf: trimmed.toUpperCase() };
  if (TRACK_ID.test(trimmed)) return { trackId: trimmed };
  if (trimmed.startsWith('#')) return { filters: { reference: trimmed.slice(1).trim() } };
  const digits = trimmed.replaceAll('-', '').replaceAll(' ', '');
  if (RNC.test(digits)) return { filters: { buyer: digits } };
  return { filters: trimmed === '' ? {} : { name: trimmed } };
}

/** The text of the search field for filters that are given. */
export function textOf({ buyer, name, reference }: InvoiceFilters): string {
  return buyer ?? name ?? (reference === undefined ? '' : `#${reference}`);
}
