/**
 * Canonical text without its blank text nodes, as if the document had been parsed with preserveWhitespace = false:
 * the authority parses that way, and documents are often indented after they were signed. A `<` stands nowhere but at
 * the beginning of a tag, so blanks between `>` and `<` are always a whole text node.
 */
export function withoutBlankText(text: string): string {
  return text.replace(/>[ \t\n]+</g, '><');
}
