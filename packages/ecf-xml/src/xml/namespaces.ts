export const XML_SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
export const XML_SCHEMA = 'http://www.w3.org/2001/XMLSchema';
export const XML_SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** The namespaces in scope at one element: prefix to name, the default namespace under the empty prefix. */
export type NamespaceScope = ReadonlyMap<string, string>;

export const NO_NAMESPACES: NamespaceScope = new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]);

/** The scope inside an element that has these attributes. */
export function declare(scope: NamespaceScope, attributes: readonly [string, string][]): NamespaceScope {
  let inner: Map<string, string> | null = null;
  for (const [name, value] of attributes) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    inner ??= new Map(scope);
    inner.set(name.slice(6), value);
  }
  return inner ?? scope;
}

/** Namespace and local part of an element's name. */
export function elementName(scope: NamespaceScope, name: string): { namespace: string; local: string } {
  const colon = name.indexOf(':');
  if (colon < 0) return { namespace: scope.get('') ?? '', local: name };
  return { namespace: scope.get(name.slice(0, colon)) ?? '', local: name.slice(colon + 1) };
}

/** Namespace and local part of an attribute's name; attributes take no part in the default namespace. */
export function attributeName(scope: NamespaceScope, name: string): { namespace: string; local: string } {
  return name.includes(':') ? elementName(scope, name) : { namespace: '', local: name };
}
