/** Longer words get places where they may break, so that no name runs into its neighbour. */
const LONGEST_WORD = 24;
const LONGEST_AMOUNT = 15;
const AMOUNT = /^[−-]?\d{1,3}(,\d{3})+(\.\d{1,4})?$/;
const BREAK = '\u200b';

/**
 * A text that the fonts can print: composed, on one line, with each character that the fonts lack as its number (`[U+1F600]`).
 * PDF/A forbids missing glyphs. Characters that change the direction of their neighbours are printed as their number too, although
 * the fonts have them: they would show a text in another order than it has. Other characters without ink are left out.
 */
export function printable(text: string, glyphs: ReadonlySet<number>): string {
  const shown = Array.from(text.normalize('NFC').replace(/\s+/g, ' '), (character) => {
    const point = character.codePointAt(0) ?? 0;
    if (!/\p{Bidi_Control}/u.test(character)) {
      if (/\p{Cf}/u.test(character)) return '';
      if (point >= 0x20 && glyphs.has(point)) return character;
      if (/\p{M}/u.test(character)) return '';
    }
    return `[U+${point.toString(16).toUpperCase().padStart(4, '0')}]`;
  }).join('');
  return shown
    .split(' ')
    .map((word) => {
      if (AMOUNT.test(word)) return word.length > LONGEST_AMOUNT ? word.replaceAll(',', `,${BREAK}`) : word;
      if (word.length <= LONGEST_WORD) return word;
      return Array.from(word, (character, index) =>
        index > 0 && index % 8 === 0 ? BREAK + character : character,
      ).join('');
    })
    .join(' ');
}

/** Every text of a value of JSON, made printable. */
export function printableTexts<T>(value: T, glyphs: ReadonlySet<number>): T {
  if (typeof value === 'string') return printable(value, glyphs) as T;
  if (Array.isArray(value)) return value.map((one) => printableTexts(one, glyphs)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, printableTexts(one, glyphs)])) as T;
}
