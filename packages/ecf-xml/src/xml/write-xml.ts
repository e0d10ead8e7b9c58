import { type DocumentNode, type DocumentValue, groupOf, textOf } from '@ecf/domain';
import { type ElementRule, type Schema, schemaOf } from '../catalogue/element-rules.js';
import { companionSchema, isDocumentName, namedType } from '../catalogue/schema-choice.js';
import { escapeText } from './characters.js';

/** One document in the two forms that differ only in how quotes are written in text. */
export interface WrittenXml {
  /** Inclusive Canonical XML 1.0: what a signature digests. */
  canonical: string;
  /**
   * The text that is sent and stored: as canonical, with `"` and `'` in text written as entities. Source: Descripción
   * Técnica 58.
   */
  output: string;
}

/** The authority's own documents declare both prefixes; a summary without them was once refused. */
const NAMESPACES =
  ' xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/**
 * Writes a tree as one compact document without prolog and signature. It is canonical by construction: the order is the
 * catalogue's; empty texts, groups and lists are left out; no value is reformatted.
 *
 * @param tree a document with its root key; repeatable elements may stand as a single value
 * @throws Error if the tree is none of the fifteen documents or has an element unknown to the catalogue; RangeError if XML
 * cannot contain a text
 */
export function writeXml(tree: DocumentNode): WrittenXml {
  const { schema, content } = writable(tree);
  const name = schema.root.name;
  const start = `<${name}${NAMESPACES}>`;
  const canonical = `${start}${groupContent(schema.root, content)}</${name}>`;
  // The only other place for quotes is the root's start tag.
  if (!canonical.includes('"', start.length) && !canonical.includes("'")) return { canonical, output: canonical };
  const body = canonical.slice(start.length);
  return { canonical, output: start + body.replace(/["']/g, (c) => (c === '"' ? '&quot;' : '&apos;')) };
}

function writable(tree: DocumentNode): { schema: Schema; content: DocumentNode } {
  const names = Object.keys(tree);
  const name = names[0] ?? '';
  const content = tree[name];
  if (names.length !== 1 || !isDocumentName(name) || !isNode(content)) {
    throw new Error('The tree must be one of our documents under its root key, for example {ECF: {...}}');
  }
  const id = companionSchema(name);
  if (id) return { schema: schemaOf(id), content };
  const type = namedType(textOf(groupOf(groupOf(content, 'Encabezado'), 'IdDoc'), 'TipoeCF') ?? '');
  if (!type) throw new Error('The tree has no TipoeCF of the ten types at ECF.Encabezado.IdDoc.TipoeCF');
  return { schema: schemaOf(`ecf-${type}`), content };
}

/** The content of a group, its elements in the catalogue's order. */
function groupContent(rule: ElementRule, node: DocumentNode): string {
  let content = '';
  let last = -1;
  for (const name of Object.keys(node)) {
    const child = rule.byName.get(name);
    // A normalised tree is in order; any other node is put in order first.
    if (child === undefined || child.index < last) return groupContent(rule, inOrder(rule, node));
    last = child.index;
    content += elements(child, node[name]!);
  }
  return content;
}

function inOrder(rule: ElementRule, node: DocumentNode): DocumentNode {
  const unknown = Object.keys(node).find((name) => !rule.byName.has(name));
  if (unknown !== undefined) throw new Error(`${unknown} is not an element of ${rule.name}`);
  const names = rule.children!.map(({ name }) => name).filter((name) => node[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, node[name]!]));
}

/** One element or a list of them; nothing if there is no content, since the authority refuses empty tags. */
function elements(rule: ElementRule, value: DocumentValue): string {
  if (Array.isArray(value)) return value.map((each) => elements(rule, each)).join('');
  if (value === '') return '';
  if (isNode(value) !== (rule.children !== null)) {
    throw new Error(`${rule.name} is a ${rule.children ? 'group' : 'text'} and holds something else`);
  }
  const content = isNode(value) ? groupContent(rule, value) : escapeText(value);
  return content === '' ? '' : rule.openTag + content + rule.closeTag;
}

function isNode(value: DocumentValue | undefined): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
