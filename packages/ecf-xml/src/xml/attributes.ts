import type { ElementRule } from '../catalogue/element-rules.js';
import { shorten } from '../fault-list.js';
import { isValueOfBuiltIn } from './built-in-types.js';
import { attributeName, type NamespaceScope, XML_SCHEMA, XML_SCHEMA_INSTANCE } from './namespaces.js';

/**
 * What is wrong with the attributes of an element, or null. The documents have none; XML Schema itself allows the hints
 * where a schema may be found, and `xsi:type` where it names the element's own type (or, for the two elements of the
 * seed that have a built-in type, one derived from it).
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
