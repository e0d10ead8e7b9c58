import { isEncf, isQuotableEncf } from '@ecf/domain';
import { InvalidRequest } from '@ecf/kit';

/**
 * Finds documents received under the number in a path or query. A document with an eNCF other than `E` and 12 digits is
 * received too, and is found by its exact text. The number is searched in upper case first, then as written. A text that is
 * no eNCF and was not received is 422.
 *
 * @param isMissing recognises the error of `find` for "not found"
 */
export async function findByNumber<T>(
  text: string,
  loc: string[],
  find: (encf: string) => Promise<T>,
  isMissing: (error: unknown) => boolean,
): Promise<T> {
  const upper = text.toUpperCase();
  let missing: unknown;
  for (const encf of new Set([upper, text])) {
    if (!isQuotableEncf(encf)) continue;
    try {
      return await find(encf);
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing ??= error;
    }
  }
  if (isEncf(upper)) throw missing;
  throw new InvalidRequest([{ loc, msg: 'an eNCF is E and 12 digits', type: 'encf' }], { cause: missing });
}
