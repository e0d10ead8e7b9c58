import { type ElementRule, schemaOf } from '../../src/catalogue/element-rules.js';
import type { SchemaId } from '../../src/index.js';
import { libxml2Accepts } from './oracle.js';
import { SCHEMA_IDS, signature } from './sample-documents.js';
import { element, isElement, serialise, type XmlElement } from './xml-tree.js';

/**
 * The expected verdict on a JSON document: libxml2's on its normalised and signed XML. This normalisation is written from
 * the interface's text, independently of the product's own, so that both do not share a misreading.
 */
export function expectedOfJson(value: unknown): boolean {
  try {
    return verdict(value);
  } catch (error) {
    if (error instanceof Unwritable) return false;
    throw error;
  }
}

function verdict(value: unknown): boolean {
  const document = one(value);
  if (!isObject(document)) return false;
  const names = Object.keys(document).filter((name) => present(document[name]));
  const [root] = names;
  if (names.length !== 1 || root === undefined) return false;
  const id = schemaNamedBy(root, document[root]);
  if (!id) return false;
  const [xml, ...more] = toXml(schemaOf(id).root, root, document[root]);
  if (!xml || more.length > 0) return false;
  sign(xml);
  return libxml2Accepts(id, serialise(xml));
}

/** Values that a document cannot have. */
class Unwritable extends Error {}

function schemaNamedBy(root: string, content: unknown): SchemaId | null {
  if (root !== 'ECF') return SCHEMA_IDS.find((id) => schemaOf(id).document === root) ?? null;
  let at = one(content);
  for (const name of ['Encabezado', 'IdDoc', 'TipoeCF']) at = isObject(at) ? one(at[name]) : undefined;
  const type = typeof at === 'string' || typeof at === 'number' ? decoded(String(at)) : '';
  const named = type.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').replace(/^\+/, '');
  return SCHEMA_IDS.find((id) => id === `ecf-${named}`) ?? null;
}

function sign(root: XmlElement): void {
  const signed = root.children.some((child) => isElement(child) && child.name === 'FechaHoraFirma');
  if (root.name === 'ECF' && !signed) root.children.push(element('FechaHoraFirma', ['01-02-2026 10:11:12']));
  root.children.push(signature());
}

/** The elements of a value: none if it is absent, several for a list. */
function toXml(rule: ElementRule | undefined, name: string, value: unknown): XmlElement[] {
  if (!present(value)) return [];
  if (Array.isArray(value)) {
    const entries = value.filter(present);
    if (rule?.max === 1 && entries.length > 1) throw new Unwritable();
    return entries.flatMap((each) => {
      const single = one(each);
      if (Array.isArray(single)) throw new Unwritable();
      return toXml(rule, name, single);
    });
  }
  if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name)) throw new Unwritable();
  const node = element(name);
  if (isObject(value)) {
    const order = (key: string): number => rule?.byName.get(key)?.index ?? Number.POSITIVE_INFINITY;
    const keys = Object.keys(value).sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
    for (const key of keys) {
      const child = rule?.byName.get(key);
      if (!child && present(value[key])) throw new Unwritable();
      node.children.push(...toXml(child, key, value[key]));
    }
    if (node.children.length === 0) return [];
  } else if (typeof value === 'number') {
    if (rule && !rule.takesNumber) throw new Unwritable();
    node.children.push(String(value));
  } else if (typeof value === 'string') {
    const text = decoded(value).replace(/\r\n?/g, '\n');
    if (/^[ \t\n]*$/.test(text)) return [];
    node.children.push(text);
  } else {
    throw new Unwritable();
  }
  return [node];
}

function decoded(text: string): string {
  const named: Record<string, string> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    copy: '©',
    euro: '€',
    reg: '®',
  };
  const out = text.replace(/&(\w+|#\d+|#x[\da-fA-F]+);/g, (whole, name: string) => {
    if (name.startsWith('#')) {
      const code = Number(name.startsWith('#x') ? `0x${name.slice(2)}` : name.slice(1));
      if (code > 0x10ffff) throw new Unwritable();
      return String.fromCodePoint(code);
    }
    return Object.hasOwn(named, name) ? named[name]! : whole;
  });
  for (const character of out) {
    const code = character.codePointAt(0)!;
    const control = code < 0x20 && code !== 9 && code !== 10 && code !== 13;
    if (control || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) throw new Unwritable();
  }
  return out;
}

function one(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const found = value.filter(present);
  return found.length === 1 ? one(found[0]) : value;
}

function present(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === 'string') return !/^[ \t\r\n]*$/.test(value);
  if (typeof value !== 'object') return true;
  return Object.values(value).some(present);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
