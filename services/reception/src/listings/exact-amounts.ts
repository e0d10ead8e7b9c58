/**
 * JSON of a listing. The interface has its amounts as numbers; written from their text they are right to the cent even where
 * a double is not. Inside of texts every quotation mark is escaped, so nothing but a field can match.
 */
export function withExactAmounts(listing: object): string {
  return JSON.stringify(listing).replace(/"total_amount":"(-?\d+\.\d{2})"/g, '"total_amount":$1');
}
