const REPLACEMENT = '\ufffd';

/**
 * Foreign text in a form that databases and JSON readers accept. NUL and halves of surrogate pairs become U+FFFD (PostgreSQL
 * refuses both). Text longer than `most` UTF-16 units is cut, never inside a pair.
 */
export function storableText(text: string, most: number = text.length): string {
  const kept = text.length > most ? text.slice(0, isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most) : text;
  // With the flag u a surrogate of a whole pair is not a character of this class.
  return kept.replaceAll('\0', REPLACEMENT).replace(/\p{Surrogate}/gu, REPLACEMENT);
}

/** Whether databases and JSON readers take the text as it is: it has neither NUL nor half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return storableText(text) === text;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
