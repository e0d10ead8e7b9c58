import type { AuthorityMessage } from '@ecf/authority-client';
import { merged, type NumberRange, rangeOf, without } from './number-set.js';

/** One number, or the first and last of a range, in whatever words stand between them. */
const NAMED = /(E\d{12})(?:\s*(?:-|–|a|al|hasta)\s*(E\d{12}))?/giu;
/** Nothing but numbers, ranges and what parts them. */
const ALL_NAMES = /^(?:[\s,;.]*E\d{12}(?:\s*(?:-|–|a|al|hasta)\s*E\d{12})?)*[\s,;.]*$/iu;

/** What a text says of the numbers that follow it. Source: Descripción Técnica v1.6 pp.31-32. */
const HEADINGS: readonly { readonly text: string; readonly refused: boolean }[] = [
  { text: 'las secuencias fueron anuladas correctamente. con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente', refused: false },
  { text: 'no fue posible anular las siguientes secuencias', refused: true },
  { text: 'las secuencias que esta intentando anular han sido utilizadas', refused: true },
];

/**
 * The numbers that a partial success refuses; merged. Null where that cannot be told for certain: the format of the detail is
 * not published, so whatever is not a known heading or plain numbers that were asked for may mean anything.
 */
export function refusedNumbers(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  asked: readonly NumberRange[],
): NumberRange[] | null {
  const named = namedAsRefused(textsOf(heading, messages));
  return named === null || named.length === 0 || without(named, asked).length > 0 ? null : merged(named);
}

/**
 * Whether a refusal leaves it open what became of some numbers: it says that "the following" were not annulled, and those
 * that it names are not all that were asked for. One that names no number is about all of them.
 */
export function leavesSomeOpen(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  asked: readonly NumberRange[],
): boolean {
  const texts = textsOf(heading, messages);
  const isAboutSome = texts.some((plain) => HEADINGS.some(({ text, refused }) => refused && plain.startsWith(text)));
  if (!isAboutSome || !texts.some((plain) => /e\d{12}/.test(plain))) return false;
  const named = namedAsRefused(texts);
  return named === null || without(asked, named).length > 0;
}

/** The numbers behind words for a refusal; null where anything else is said that may be about numbers. */
function namedAsRefused(texts: readonly string[]): NumberRange[] | null {
  const named: NumberRange[] = [];
  let refused: boolean | null = null;
  for (const plain of texts) {
    const known = HEADINGS.find((each) => plain.startsWith(each.text));
    if (known !== undefined) refused = known.refused;
    else if (refused === null && !/\d{12}/.test(plain)) continue;
    const rest = known === undefined ? plain : plain.slice(known.text.length).replace(/^[:.\s]+/, '');
    if (!ALL_NAMES.test(rest) || (refused === null && rest !== '')) return null;
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
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
