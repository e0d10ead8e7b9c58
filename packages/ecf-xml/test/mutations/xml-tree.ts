/** Raw markup that is written unchanged. */
export interface Raw {
  raw: string;
}

export type XmlContent = XmlElement | Raw | string;

/** A document that mutations may change in any way. */
export interface XmlElement {
  name: string;
  attributes: [name: string, value: string][];
  children: XmlContent[];
}

export function element(name: string, children: XmlContent[] = []): XmlElement {
  return { name, attributes: [], children };
}

export function isElement(content: XmlContent | undefined): content is XmlElement {
  return typeof content === 'object' && 'name' in content;
}

export function copy(node: XmlElement): XmlElement {
  return {
    name: node.name,
    attributes: node.attributes.map(([name, value]) => [name, value]),
    children: node.children.map((child) => (isElement(child) ? copy(child) : child)),
  };
}

/** Every element of the document with its parent, the root first; elements of a signature are left out. */
export function elementsOf(root: XmlElement): { node: XmlElement; parent: XmlElement | null; depth: number }[] {
  const found: { node: XmlElement; parent: XmlElement | null; depth: number }[] = [];
  const walk = (node: XmlElement, parent: XmlElement | null, depth: number): void => {
    found.push({ node, parent, depth });
    if (node.name === 'Signature') return;
    for (const child of node.children) if (isElement(child)) walk(child, node, depth + 1);
  };
  walk(root, null, 0);
  return found;
}

export function serialise(node: XmlContent): string {
  if (typeof node === 'string') return escaped(node);
  if (!isElement(node)) return node.raw;
  const attributes = node.attributes.map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
  if (node.children.length === 0) return `<${node.name}${attributes}/>`;
  return `<${node.name}${attributes}>${node.children.map(serialise).join('')}</${node.name}>`;
}

function escaped(text: string): string {
  const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };
  return text.replace(/[&<>"\r]/g, (c) => references[c]!);
}
