import { type ElementRule, type Schema, schemaOf } from '../catalogue/element-rules.js';
import type { SimpleType } from '../catalogue/simple-types.js';
import type { SchemaId } from '../documents.js';

/** The XSD of one document, generated from the catalogue. Types have the names the authority's file gives them. */
export function xsd(id: SchemaId): string {
  const schema = schemaOf(id);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">',
    ...element(schema.root, 1, signature(schema)),
    ...[...namedTypes(schema.root)].flatMap(([name, type]) => simpleType(name, type)),
    '</xs:schema>',
    '',
  ].join('\n');
}

/** The place of the XML signature; XML Schema allows any element there. */
function signature({ signatureRequired }: Schema): string {
  return `<xs:any minOccurs="${signatureRequired ? 1 : 0}" maxOccurs="1" processContents="skip"/>`;
}

function element(rule: ElementRule, depth: number, last?: string): string[] {
  const pad = '  '.repeat(depth);
  const occurs = last ? '' : ` minOccurs="${rule.required ? 1 : 0}" maxOccurs="${rule.max}"`;
  if (rule.typeName) return [`${pad}<xs:element name="${rule.name}" type="${rule.typeName}"${occurs}/>`];
  return [
    `${pad}<xs:element name="${rule.name}"${occurs}>`,
    `${pad}  <xs:complexType>`,
    `${pad}    <xs:sequence>`,
    ...rule.children!.flatMap((child) => element(child, depth + 3)),
    ...(last ? [`${pad}      ${last}`] : []),
    `${pad}    </xs:sequence>`,
    `${pad}  </xs:complexType>`,
    `${pad}</xs:element>`,
  ];
}

/** The simple types that a document uses and XML Schema does not know itself. */
function namedTypes(rule: ElementRule, found = new Map<string, SimpleType>()): Map<string, SimpleType> {
  if (rule.type && rule.typeName && !rule.typeName.startsWith('xs:')) found.set(rule.typeName, rule.type);
  for (const child of rule.children ?? []) namedTypes(child, found);
  return found;
}

const FACETS = [
  'minLength',
  'maxLength',
  'pattern',
  'minInclusive',
  'minExclusive',
  'maxInclusive',
  'totalDigits',
  'fractionDigits',
] as const;

function simpleType(name: string, type: SimpleType): string[] {
  const facets = FACETS.flatMap((facet) => (type[facet] === undefined ? [] : [facetLine(facet, String(type[facet]))]));
  return [
    `  <xs:simpleType name="${name}">`,
    `    <xs:restriction base="xs:${type.base}">`,
    ...(type.enumeration ?? []).map((code) => facetLine('enumeration', code)),
    ...facets,
    '    </xs:restriction>',
    '  </xs:simpleType>',
  ];
}

function facetLine(facet: string, value: string): string {
  return `      <xs:${facet} value="${value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')}"/>`;
}
