import type { DocumentNode } from '@ecf/domain';
import { checkSource } from './check-xml.js';
import { genericContent } from './generic-content.js';
import type { CanonicalXml } from './parse-xml.js';
import { XmlScanner } from './scanner.js';

/**
 * Turns a document back into its normalised tree, from the canonical text alone, so that what is read is what was
 * verified. The XML signature and elements that the schema does not know are left out; a document of another root is
 * read without a schema.
 */
export function readXml(xml: Pick<CanonicalXml, 'text'>): DocumentNode {
  const { tree } = checkSource(xml.text).checked;
  if (tree) return tree;
  const scanner = new XmlScanner(xml.text);
  while (scanner.next() !== 'open');
  return { [scanner.name]: genericContent(scanner) };
}
