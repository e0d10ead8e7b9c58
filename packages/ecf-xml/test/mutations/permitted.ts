/** Divergence: a text with characters beyond the basic plane may be refused when its UTF-16 units are too many. */
export function isPermitted(source: string, expected: boolean, broken: readonly string[]): boolean {
  return expected && /[\ud800-\udfff]/.test(source) && broken.every((rule) => rule === 'schema.length');
}
