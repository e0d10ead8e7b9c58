import type { Structured } from './call.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const XML_TYPE = 'application/xml; charset=utf-8';

/**
 * Chooses between JSON and XML by the Accept header. As on the authority's servers, a header with a wildcard, or none,
 * means JSON.
 */
export function prefersXml(accept: string | string[] | undefined): boolean {
  const header = (Array.isArray(accept) ? accept.join(',') : (accept ?? '')).toLowerCase();
  if (header === '' || header.includes('*/*')) return false;
  const xml = header.search(/(application|text)\/xml/);
  const json = header.search(/(application|text)\/json/);
  return xml >= 0 && (json < 0 || xml < json);
}

/** Writes a structured body in the wanted form. */
export function represent(body: Structured, xml: boolean): { text: string; contentType: string } {
  if (!xml) return { text: JSON.stringify(body.value), contentType: JSON_TYPE };
  const root = Array.isArray(body.value) && body.item ? listOf(body.root, body.item, body.value) : null;
  const text = root ?? element(body.root, body.value, body.item);
  return { text: `<?xml version="1.0" encoding="utf-8"?>${text}`, contentType: XML_TYPE };
}

function listOf(root: string, item: string, values: readonly unknown[]): string {
  return `<${root}>${values.map((value) => element(item, value)).join('')}</${root}>`;
}

/** Null members are left out, lists repeat their element, as the serialiser of the authority's platform does. */
function element(name: string, value: unknown, item?: string): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((entry) => element(name, entry, item)).join('');
  if (typeof value === 'object') {
    const inner = Object.entries(value).map(([key, entry]) => element(key, entry, item));
    return `<${name}>${inner.join('')}</${name}>`;
  }
  return `<${name}>${escapeXml(String(value))}</${name}>`;
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
