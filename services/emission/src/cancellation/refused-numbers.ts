import type { AuthorityMessage } from '@ecf/authority-client';
import { withoutAccents } from '@ecf/domain';
import { merged, type NumberRange, rangeOf, without } from '@ecf/domain/number-set';

/** One number, or the first and last of a range, with known words between them. */
const NAMED = /(E\d{12})(?:\s*(?:-|–|a|al|hasta)\s*(E\d{12}))?/giu;
const SEPARATORS = /^[\s,;.]*$/;

/** Known texts, and whether they refuse the numbers that follow. Source: Descripción Técnica v1.6 pp.31-32. */
const HEADINGS: readonly { readonly text: string; readonly refused: boolean }[] = [
  { text: 'las secuencias fueron anuladas correctamente. con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente', refused: false },
  { text: 'no fue posible anular las siguientes secuencias', refused: true },
  { text: 'las secuencias que esta intentando anular han sido utilizadas', refused: true },
];

/**
 * The numbers that a partial success refuses, merged. Null if that is not certain: the format is not published, so
 * any text but a known heading or requested numbers may mean anything.
 */
export function refusedNumbers(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  requested: readonly NumberRange[],
): NumberRange[] | null {
  const named = namedAsRefused(textsOf(heading, messages));
  return named === null || named.length === 0 || without(named, requested).length > 0 ? null : merged(named);
}

/**
 * Whether a refusal leaves the outcome of some numbers open: it refuses "the following" numbers and names only some
 * of the requested ones. A refusal without numbers concerns all of them.
 */
export function leavesSomeOpen(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  requested: readonly NumberRange[],
): boolean {
  const texts = textsOf(heading, messages);
  const isAboutSome = texts.some((plain) => HEADINGS.some(({ text, refused }) => refused && plain.startsWith(text)));
  if (!isAboutSome || !texts.some((plain) => /e\d{12}/.test(plain))) return false;
  const named = namedAsRefused(texts);
  return named === null || without(requested, named).length > 0;
}

/** The numbers after a text of refusal; null if another text may concern numbers. */
function namedAsRefused(texts: readonly string[]): NumberRange[] | null {
  const named: NumberRange[] = [];
  let refused: boolean | null = null;
  for (const plain of texts) {
    const known = HEADINGS.find((each) => plain.startsWith(each.text));
    if (known !== undefined) refused = known.refused;
    else if (refused === null && !/\d{12}/.test(plain)) continue;
    const rest = known === undefined ? plain : plain.slice(known.text.length).replace(/^[:.\s]+/, '');
    if (!SEPARATORS.test(rest.replace(NAMED, '')) || (refused === null && rest !== '')) return null;
    if (refused !== true) continue;
    for (const [, first = '', last = first] of rest.matchAll(NAMED)) {
      const range = rangeOf(first, last);
      if (range !== null) named.push(range);
    }
  }
  return named;
}

function textsOf(heading: string | null, messages: readonly AuthorityMessage[]): string[] {
  return [...(heading === null ? [] : [heading]), ...messages.map(({ valor }) => valor)].map(fold);
}

function fold(text: string): string {
  return withoutAccents(text).toLowerCase().replace(/\s+/g, ' ').trim();
}
