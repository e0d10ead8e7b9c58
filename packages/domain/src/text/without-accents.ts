const MARKS = /\p{M}/gu;

/**
 * The text without accents and other combining marks, as `á` and `a` compare equal. Marks of the text itself are removed
 * first: normalization sorts each run of marks, in a time that grows with the square of its length.
 */
export function withoutAccents(text: string): string {
  return text.replace(MARKS, '').normalize('NFD').replace(MARKS, '');
}
