/** The document of a query or a submission. An answer that names another one is not an answer to it. */
export interface Queried {
  /** RNC of the issuer. */
  rnc?: string;
  encf?: string;
  trackId?: string;
}

/** The document that an answer names; null if it names none. */
export type Named = { readonly [field in keyof Queried]: string | null };

/** The reading of an answer that names another document. */
export interface OtherDocument {
  unknown: 'another_document';
  detail: string;
}

const WORDS: Record<keyof Queried, string> = { rnc: 'issuer', encf: 'eNCF', trackId: 'trackId' };
const LONGEST_NAME = 40;

/**
 * The reading of an answer that names another document than the queried one: it says nothing about that one. Null if no
 * named field contradicts the query; fields that the answer does not name are not compared.
 */
export function otherDocument(queried: Queried, named: Named): OtherDocument | null {
  const other = (['trackId', 'encf', 'rnc'] as const).flatMap((field) => {
    const [wanted, answered] = [queried[field], named[field]];
    if (wanted === undefined || answered === undefined || answered === null) return [];
    if (comparable(field, answered) === comparable(field, wanted)) return [];
    return [`${WORDS[field]} ${JSON.stringify(answered.slice(0, LONGEST_NAME))}, not ${wanted}`];
  });
  if (other.length === 0) return null;
  return { unknown: 'another_document', detail: `the answer is about another document: ${other.join('; ')}` };
}

/** An RNC may come with hyphens, or as a number that lost its zeros. */
function comparable(field: keyof Queried, text: string): string {
  return field === 'rnc' && /^[\d -]+$/.test(text)
    ? text.replace(/\D/g, '').replace(/^0+/, '')
    : text.trim().toLowerCase();
}
