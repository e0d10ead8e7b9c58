import { namespaceOf, type Scope, scopeInside } from './namespaces.js';
import { type Attribute, attributesOf, declaredPrefix, isEndTag, localName, prefixOf, startTag } from './tags.js';

/** An element of the signature, with its place in the text. */
export interface Element {
  readonly name: string;
  readonly local: string;
  readonly namespace: string;
  /** Without namespace declarations. */
  readonly attributes: readonly Attribute[];
  readonly children: readonly Element[];
  /** The text directly inside, escapes included. */
  readonly text: string;
  /** Declarations in force around and inside it. */
  readonly outside: Scope | null;
  readonly inside: Scope | null;
  readonly start: number;
  /** Just after its start tag. */
  readonly contentStart: number;
  /** Just after its end tag. */
  readonly end: number;
}

/** A signature with four certificates has 25 elements. */
const MOST_ELEMENTS = 200;

export class TooManyElements extends Error {}

/** Reads the element that begins at `start`, with all that is in it. */
export function readElement(
  text: string,
  start: number,
  outside: Scope | null,
  left = { elements: MOST_ELEMENTS },
): Element {
  if (--left.elements < 0) throw new TooManyElements();
  const tag = startTag(text, start);
  const attributes = attributesOf(text, tag);
  const inside = scopeInside(outside, attributes);
  const children: Element[] = [];
  let content = '';
  let at = tag.end;
  for (;;) {
    const next = text.indexOf('<', at);
    content += text.slice(at, next);
    at = next;
    if (isEndTag(text, at)) break;
    const child = readElement(text, at, inside, left);
    children.push(child);
    at = child.end;
  }
  return {
    name: tag.name,
    local: localName(tag.name),
    namespace: namespaceOf(inside, prefixOf(tag.name)) ?? '',
    attributes: attributes.filter(({ name }) => declaredPrefix(name) === null),
    children,
    text: content,
    outside,
    inside,
    start,
    contentStart: tag.end,
    end: text.indexOf('>', at) + 1,
  };
}
