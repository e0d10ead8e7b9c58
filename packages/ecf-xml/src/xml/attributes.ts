import type { ElementRule } from '../catalogue/element-rules.js';
import { shorten } from '../fault-list.js';
import { trimBlanks } from '../values/blanks.js';
import { attributeName, type NamespaceScope, XML_SCHEMA, XML_SCHEMA_INSTANCE } from './namespaces.js';

/**
 * The fault of an element's attributes, or null. The documents have none. XML Schema itself allows the hints about the place
 * of a schema, and `xsi:type` if it names the element's own type. The two elements of the seed with a built-in type also
 * allow a type derived from it.
 *
 * @param text the value of a leaf, which a derived built-in type restricts further
 */
export function attributeFault(
  attributes: readonly [string, string][],
  scope: NamespaceScope,
  rule: ElementRule,
  text: string | null,
): string | null {
  for (const [name, value] of attributes) {
    if (name === 'xmlns' || name.startsWith('xmlns:')) continue;
    const { namespace, local } = attributeName(scope, name);
    if (namespace !== XML_SCHEMA_INSTANCE) return `The attribute ${shorten(name)} is not allowed; remove it.`;
    if (local === 'schemaLocation' || local === 'noNamespaceSchemaLocation') continue;
    if (local !== 'type') return `The attribute ${shorten(name)} is not allowed; remove it.`;
    if (!namesOwnType(value, scope, rule, text)) return `The attribute ${shorten(name)} names another type; remove it.`;
  }
  return null;
}

function namesOwnType(value: string, scope: NamespaceScope, rule: ElementRule, text: string | null): boolean {
  const [prefix, local, more] = value.includes(':') ? value.split(':') : ['', value];
  if (rule.typeName === null || local === undefined || more !== undefined) return false;
  // The types have no namespace; libxml2 finds them only where no default namespace is declared, not even xmlns="".
  if (!rule.typeName.startsWith('xs:')) return prefix === '' && !scope.has('') && local === rule.typeName;
  return scope.get(prefix!) === XML_SCHEMA && isValueOfBuiltIn(rule.typeName.slice(3), local, text ?? '');
}

/** Characters of XML names, as XML 1.0 (fifth edition) lists them. */
const START =
  ':A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}' +
  '\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}';
const PART = `${START}\\-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}`;
const withoutColon = (characters: string): string => characters.slice(1);

// linear: one class of characters behind another, from the first character
const NCNAME = new RegExp(`^[${withoutColon(START)}][${withoutColon(PART)}]*$`, 'u');

/** The built-in types derived from xs:string that a document may claim, and the values they leave. */
const DERIVED_FROM_STRING: ReadonlyMap<string, RegExp> = new Map([
  ['string', /^/],
  ['normalizedString', /^/],
  ['token', /^/],
  ['language', /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/],
  // linear: one class of characters
  ['NMTOKEN', new RegExp(`^[${PART}]+$`, 'u')],
  // linear: as NCNAME
  ['Name', new RegExp(`^[${START}][${PART}]*$`, 'u')],
  ['NCName', NCNAME],
  ['ID', NCNAME],
  ['IDREF', NCNAME],
]);

/** Whether `claimed` is the built-in type `declared` or derived from it, and the text is one of its values. */
function isValueOfBuiltIn(declared: string, claimed: string, text: string): boolean {
  if (claimed === declared) return true;
  if (declared !== 'string') return false;
  const values = DERIVED_FROM_STRING.get(claimed);
  return values?.test(trimBlanks(text)) ?? false;
}
