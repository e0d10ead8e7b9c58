import type { DocumentNode } from '@ecf/domain';
import type { CanonicalXml } from '../xml/parse-xml.js';
import { readXml } from '../xml/read-xml.js';

/**
 * A signed document as the JSON that a caller submits: its root with the authority's names and nesting, values as text, without
 * signature and signing time, which the gateway sets.
 */
export function inputDocument(xml: Pick<CanonicalXml, 'text'>): DocumentNode {
  const tree = readXml(xml);
  return Object.fromEntries(
    Object.entries(tree).map(([root, content]) => [root, isGroup(content) ? withoutSigningTime(content) : content]),
  );
}

function isGroup(content: DocumentNode[string]): content is DocumentNode {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

function withoutSigningTime({ FechaHoraFirma: _signedAt, ...group }: DocumentNode): DocumentNode {
  return group;
}
