import type { AuthorityMessage } from '@ecf/authority-client';
import { isEcfType } from '@ecf/domain';
import { common, type NumberRange } from './number-set.js';

/** One number, or the first and last of a range, in whatever words stand between them. */
const NAMED = /E(\d{2})(\d{10})(?:\s*(?:-|–|a|al|hasta)\s*E?(?:\d{2})?(\d{10}))?(?!\d)/giu;

/**
 * The numbers that the authority names in the texts of a refusal, as far as they were asked for; merged. Its format is not
 * published: an answer that names none is told from one that refuses none by its verdict.
 */
export function refusedNumbers(messages: readonly AuthorityMessage[], asked: readonly NumberRange[]): NumberRange[] {
  const named: NumberRange[] = [];
  for (const { valor } of messages)
    for (const [, type, first, last = first] of valor.matchAll(NAMED)) {
      const [from, to] = [Number(first), Number(last)];
      if (isEcfType(type) && from > 0 && to >= from) named.push({ type, from, to });
    }
  return common(asked, named);
}
