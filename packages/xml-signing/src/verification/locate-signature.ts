import { type Element, readElement } from '../canonical/elements.js';
import { namespaceOf, type Scope, scopeInside } from '../canonical/namespaces.js';
import { type Attribute, attributesOf, isEndTag, prefixOf, startTag } from '../canonical/tags.js';
import { XMLDSIG } from '../profiles/authority.js';
import { SignatureRefused } from './verification.js';

export interface LocatedSignature {
  readonly element: Element;
  readonly rootAttributes: readonly Attribute[];
}

/**
 * Finds the one XML-DSig Signature of a canonical document: the only one anywhere in it, and the last child of the
 * root. Elements that are merely called Signature, in another namespace, are content.
 *
 * @throws SignatureRefused
 */
export function locateSignature(text: string): LocatedSignature {
  const scopes: (Scope | null)[] = [null];
  let rootAttributes: Attribute[] = [];
  let found: { start: number; depth: number; scope: Scope | null } | null = null;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (isEndTag(text, at)) {
      scopes.pop();
      continue;
    }
    const tag = startTag(text, at);
    const outside = scopes[scopes.length - 1] ?? null;
    const attributes = attributesOf(text, tag);
    const inside = attributes.length === 0 ? outside : scopeInside(outside, attributes);
    if (scopes.length === 1) rootAttributes = attributes;
    if (tag.name.endsWith('Signature') && isSignature(tag.name, inside)) {
      if (found !== null) throw new SignatureRefused('several_signatures', 'The document has more than one Signature.');
      found = { start: at, depth: scopes.length - 1, scope: outside };
    }
    scopes.push(inside);
  }
  if (found === null) throw new SignatureRefused('signature_missing', 'The document has no Signature.');
  if (found.depth !== 1) throw misplaced();
  const element = readElement(text, found.start, found.scope);
  if (!/^[ \t\n]*<\/[^<]*$/.test(text.slice(element.end))) throw misplaced();
  return { element, rootAttributes };
}

function isSignature(name: string, scope: Scope | null): boolean {
  const prefix = prefixOf(name);
  const local = prefix === '' ? name : name.slice(prefix.length + 1);
  return local === 'Signature' && namespaceOf(scope, prefix) === XMLDSIG;
}

function misplaced(): SignatureRefused {
  return new SignatureRefused('signature_misplaced', 'The Signature is not the last child of the root element.');
}
