import { unescapeText } from './characters.js';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

/**
 * Text, or comments, CDATA sections and processing instructions whole; otherwise one tag, attribute values with `>` included.
 * Each piece begins where the one before ends, so no part of a document is tried twice.
 */
const PIECE =
  /[^<]+|<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<[^"'>]*(?:(?:"[^"]*"|'[^']*')[^"'>]*)*>/gy;
const ATTRIBUTE = /(\s)([^\s=/>]+)(\s*=\s*)("[^"]*"|'[^']*')/g;

/**
 * Canonicalises a document that declares namespaces which are not absolute URIs. Canonical XML refuses them by its letter
 * (and libxml2 with it), XML Schema does not mind them. Stand-ins that sort alike take their place for the time of the
 * canonicalisation.
 */
export function canonicaliseOddNamespaces(source: string, canonicalise: (source: string) => string): string {
  const names = new Set<string>();
  mapNamespaces(source, (value) => {
    names.add(value);
    return value;
  });
  const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const standIn = new Map(sorted.map((name, index) => [name, `urn:name:${String(index).padStart(6, '0')}`]));
  const original = new Map([...standIn].map(([name, urn]) => [urn, name]));
  const canonical = canonicalise(mapNamespaces(source, (name) => standIn.get(name)!));
  return mapNamespaces(canonical, (urn) => original.get(urn)!);
}

/** The document with the name of every declared namespace changed. */
function mapNamespaces(source: string, change: (name: string) => string): string {
  return source.replace(PIECE, (piece) => {
    if (!/^<[^!?/]/.test(piece) || !piece.includes('xmlns')) return piece;
    return piece.replace(ATTRIBUTE, (attribute, blank: string, name: string, equals: string, quoted: string) => {
      if (name !== 'xmlns' && !name.startsWith('xmlns:')) return attribute;
      const value = unescapeText(quoted.slice(1, -1).replace(/[\t\n\r]/g, ' '));
      return value === '' || value === XML_NAMESPACE
        ? attribute
        : `${blank}${name}${equals}"${escapeAttribute(change(value))}"`;
    });
  });
}

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

function escapeAttribute(value: string): string {
  return value.replace(/[&<"\t\n\r]/g, (c) => REFERENCES[c]!);
}
