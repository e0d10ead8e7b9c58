/** Divergence: a text with characters beyond the basic plane may be refused if it has too many UTF-16 units. */
export function isPermitted(source: string, expected: boolean, broken: readonly string[]): boolean {
  return expected && /[\ud800-\udfff]/.test(source) && broken.every((rule) => rule === 'schema.length');
}
