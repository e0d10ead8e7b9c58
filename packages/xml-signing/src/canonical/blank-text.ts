import { isEndTag, startTag } from './tags.js';

/**
 * Canonical text without its blank text nodes, as if parsed with preserveWhitespace = false. The authority parses that way,
 * and documents are often indented after signing. A `<` occurs only at the beginning of a tag, so blanks between `>` and `<`
 * are always a whole text node.
 */
export function withoutBlankText(text: string): string {
  let kept = '';
  let from = 0;
  // A scan instead of a regular expression: a run of millions of blanks would overflow the stack of the matcher.
  for (let at = text.indexOf('>'); at >= 0; at = text.indexOf('>', at + 1)) {
    let end = at + 1;
    while (isBlank(text.charCodeAt(end))) end += 1;
    if (end === at + 1 || text[end] !== '<') continue;
    kept += text.slice(from, at + 1);
    from = end;
  }
  return kept + text.slice(from);
}

/**
 * Canonical text with a line feed for each carriage return of its texts, also before a line feed. .NET writes a document out
 * and reads it again before it digests it, which turns them so; it keeps those of attributes.
 */
export function withLineFeeds(text: string): string {
  if (!text.includes('&#xD;')) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', from)) {
    parts.push(text.slice(from, at).replace(/&#xD;\n?/g, '\n'));
    from = isEndTag(text, at) ? text.indexOf('>', at) + 1 : startTag(text, at).end;
    parts.push(text.slice(at, from));
  }
  return parts.join('') + text.slice(from);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a;
}
