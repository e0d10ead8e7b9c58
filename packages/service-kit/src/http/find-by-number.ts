import { isEncf, isQuotableEncf } from '@ecf/domain';
import { InvalidRequest } from './errors.js';

/**
 * Finds what was received under the number that a path or query names. A document whose eNCF is not `E` and 12 digits is
 * at fault, yet received, so it is found by its text as it stands: the number in upper case is looked for first, then as
 * it is written. A text that is no eNCF and was not received is 422.
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
