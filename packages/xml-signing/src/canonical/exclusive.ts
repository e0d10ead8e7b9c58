import { compareCodePoints, declarationText, declare, namespaceOf, type Scope, scopeInside } from './namespaces.js';
import { attributesOf, declaredPrefix, isEndTag, prefixOf, startTag } from './tags.js';

interface Open {
  /** Declarations in force in the document. */
  readonly scope: Scope | null;
  /** Declarations that the output has made so far on the way here. */
  readonly rendered: Scope | null;
}

/**
 * Exclusive Canonical XML 1.0 of one element, made from the inclusive canonical text of its document. Only namespace
 * declarations differ: they are where their prefix is used first.
 *
 * @param start where the element's start tag begins
 * @param end just after its end tag
 * @param outside declarations in force around the element
 * @param inclusive prefixes of InclusiveNamespaces, '' for `#default`: these are declared as inclusively
 * @source Exclusive XML Canonicalization 1.0, section 3
 */
export function exclusiveCanonical(
  text: string,
  start: number,
  end: number,
  outside: Scope | null,
  inclusive: readonly string[] = [],
): string {
  const output: string[] = [];
  const open: Open[] = [{ scope: outside, rendered: null }];
  let copied = start;
  for (let at = start; at >= 0 && at < end; at = text.indexOf('<', at + 1)) {
    if (isEndTag(text, at)) {
      open.pop();
      continue;
    }
    const tag = startTag(text, at);
    const attributes = attributesOf(text, tag);
    const around = open[open.length - 1]!;
    const scope = scopeInside(around.scope, attributes);
    const own = attributes.filter(({ name }) => declaredPrefix(name) === null);
    const used = new Set([prefixOf(tag.name), ...inclusive]);
    for (const { name } of own) if (name.includes(':') && !name.startsWith('xml:')) used.add(prefixOf(name));

    let rendered = around.rendered;
    const fresh: { prefix: string; uri: string }[] = [];
    for (const prefix of used) {
      const uri = namespaceOf(scope, prefix);
      if (uri !== undefined && uri !== namespaceOf(rendered, prefix)) fresh.push({ prefix, uri });
    }
    fresh.sort((a, b) => compareCodePoints(a.prefix, b.prefix));
    for (const { prefix, uri } of fresh) rendered = declare(rendered, prefix, uri);
    const declarations = fresh.map(({ prefix, uri }) => declarationText(prefix, uri));
    output.push(text.slice(copied, tag.nameEnd), ...declarations);
    for (const { name, raw } of own) output.push(` ${name}="${raw}"`);
    output.push('>');
    copied = tag.end;
    open.push({ scope, rendered });
  }
  output.push(text.slice(copied, end));
  return output.join('');
}
