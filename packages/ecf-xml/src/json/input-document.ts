import type { DocumentNode } from '@ecf/domain';
import { decodeCallerEntities } from '../xml/characters.js';
import type { CanonicalXml } from '../xml/parse-xml.js';
import { readXml } from '../xml/read-xml.js';

type Content = DocumentNode[string];

/**
 * A signed document as the JSON that a caller submits: its root with the authority's names and nesting, values as text, without
 * signature. Submitted again as it is, it is the same document.
 */
export function inputDocument(xml: Pick<CanonicalXml, 'text'>): DocumentNode {
  return asInput(readXml(xml));
}

/** A tree as input of the JSON check. Input is decoded once, so a text that looks escaped has to be escaped. */
export function asInput<C extends Content>(content: C): C {
  const input = (value: Content): unknown => {
    if (typeof value === 'string')
      return decodeCallerEntities(value) === value ? value : value.replaceAll('&', '&amp;');
    if (Array.isArray(value)) return value.map(input);
    return isGroup(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, input(inner)]))
      : value;
  };
  return input(content) as C;
}

function isGroup(content: Content): content is DocumentNode {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}
