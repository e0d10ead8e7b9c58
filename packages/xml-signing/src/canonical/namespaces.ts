import { type Attribute, declaredPrefix } from './tags.js';

/** Namespace declarations in force at some element: the innermost first. */
export interface Scope {
  readonly prefix: string;
  /** As written, escapes included; empty if the default namespace is undeclared. */
  readonly uri: string;
  readonly outer: Scope | null;
  readonly size: number;
}

/** No document of the field has more than four; the bound keeps the look-up of prefixes cheap in hostile documents. */
const MOST_DECLARATIONS = 64;

export class TooManyNamespaces extends Error {}

export function declare(outer: Scope | null, prefix: string, uri: string): Scope {
  const size = (outer?.size ?? 0) + 1;
  if (size > MOST_DECLARATIONS) throw new TooManyNamespaces();
  return { prefix, uri, outer, size };
}

/** The scope inside an element with these attributes. */
export function scopeInside(outer: Scope | null, attributes: readonly Attribute[]): Scope | null {
  let scope = outer;
  for (const { name, raw } of attributes) {
    const prefix = declaredPrefix(name);
    if (prefix !== null) scope = declare(scope, prefix, raw);
  }
  return scope;
}

/** The namespace of a prefix; empty for an undeclared default, undefined for an undeclared prefix. */
export function namespaceOf(scope: Scope | null, prefix: string): string | undefined {
  for (let at = scope; at !== null; at = at.outer) if (at.prefix === prefix) return at.uri;
  return prefix === '' ? '' : undefined;
}

/** All declarations in force, each prefix once, in canonical order: the default first, the others by prefix. */
export function declarationsInForce(scope: Scope | null): { prefix: string; uri: string }[] {
  const byPrefix = new Map<string, string>();
  for (let at = scope; at !== null; at = at.outer) if (!byPrefix.has(at.prefix)) byPrefix.set(at.prefix, at.uri);
  return [...byPrefix]
    .filter(([prefix, uri]) => prefix !== '' || uri !== '')
    .map(([prefix, uri]) => ({ prefix, uri }))
    .sort((a, b) => compareCodePoints(a.prefix, b.prefix));
}

export function declarationText(prefix: string, uri: string): string {
  return prefix === '' ? ` xmlns="${uri}"` : ` xmlns:${prefix}="${uri}"`;
}

/** Canonical XML orders by UCS code point; UTF-16 order differs from it for names beyond the BMP. */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
