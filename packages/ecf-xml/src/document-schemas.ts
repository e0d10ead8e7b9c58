import { DOCUMENT_TYPES, ECF_TYPES, type EcfType } from '@ecf/domain';
import { describeElement } from './catalogue/element-meanings.js';
import { type ElementRule, schemaOf } from './catalogue/element-rules.js';
import type { SimpleType } from './catalogue/simple-types.js';
import { DOCUMENT_EXAMPLES } from './document-examples.js';
import { describeType } from './values/describe-type.js';
import { portablePattern } from './values/patterns.js';

export { DOCUMENT_EXAMPLES };

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Required in the signed XML, but not in a submission: the gateway fills them in. */
const FILLED_IN = new Set(['eNCF', 'FechaVencimientoSecuencia', 'FechaHoraFirma']);

/** Longer lists of codes are written once, under the name of their type. */
const MOST_CODES_IN_PLACE = 10;

/**
 * The JSON Schema (draft 2020-12) of an e-CF as it is submitted, for editors and validators: `{"ECF": {...}}` with the names
 * and the nesting of the authority, every value in its plain spelling, no unknown names. Groups and long lists of codes are in
 * `$defs`.
 */
export function documentSchema(type: EcfType): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const root = groupSchema(schemaOf(`ecf-${type}`).root, '', type, {
    isClosed: true,
    define(name, schema) {
      definitions[name] = schema;
      return `#/$defs/${name}`;
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `/schemas/${type}.json`,
    title: `e-CF ${type}`,
    description: DOCUMENT_TYPES[type],
    type: 'object',
    required: ['ECF'],
    additionalProperties: false,
    properties: { ECF: { description: describeElement('', 'ECF'), ...root } },
    $defs: definitions,
  };
}

/**
 * The ten types as components of an OpenAPI document: `Ecf` is one of `Ecf31` to `Ecf47`. A group has the name of its element
 * and of the first type that has it so; equal groups and long lists of codes are written once. Further names are not
 * forbidden, because answers have these components as well.
 */
export function ecfComponents(): Record<string, JsonSchema> {
  const components: Record<string, JsonSchema> = {};
  const written = new Map<string, string>();
  const types = ECF_TYPES.map((type) => {
    return groupSchema(schemaOf(`ecf-${type}`).root, '', type, {
      isClosed: false,
      define(name, schema) {
        const text = `${name} ${JSON.stringify(schema)}`;
        const isGroup = schema.properties !== undefined;
        const component = written.get(text) ?? (name === 'ECF' ? `Ecf${type}` : isGroup ? `${name}${type}` : name);
        written.set(text, component);
        components[component] = schema;
        return `#/components/schemas/${component}`;
      },
    });
  });
  return { Ecf: { description: 'An e-CF of one of the ten types; TipoeCF says which.', oneOf: types }, ...components };
}

interface Writing {
  /** Whether names that the catalogue does not have are refused. */
  readonly isClosed: boolean;
  /** Keeps a schema under a name; returns the reference to it. */
  define(name: string, schema: JsonSchema): string;
}

/** The reference to a group's schema. */
function groupSchema(rule: ElementRule, parent: string, type: EcfType, writing: Writing): JsonSchema {
  const children = rule.children!.map((child) => [child.name, elementSchema(child, rule.name, type, writing)]);
  const required = rule.children!.filter((child) => child.required && !FILLED_IN.has(child.name));
  const schema = {
    ...(rule.name === 'ECF' ? { title: `e-CF ${type}`, description: DOCUMENT_TYPES[type] } : {}),
    type: 'object',
    ...(required.length > 0 ? { required: required.map(({ name }) => name) } : { minProperties: 1 }),
    ...(writing.isClosed ? { additionalProperties: false } : {}),
    properties: Object.fromEntries(children),
    ...(rule.name === 'ECF' ? { examples: [DOCUMENT_EXAMPLES[type]] } : {}),
  };
  return { $ref: writing.define(groupName(rule.name, parent), schema) };
}

/** ImpuestoAdicional is a group of the totals, and another one of a line. */
function groupName(name: string, parent: string): string {
  return name === 'ImpuestoAdicional' && parent === 'TablaImpuestoAdicional' ? 'ImpuestoAdicionalItem' : name;
}

function elementSchema(rule: ElementRule, parent: string, type: EcfType, writing: Writing): JsonSchema {
  const one = rule.children ? groupSchema(rule, parent, type, writing) : valueSchema(rule, type, writing);
  // The codes of a list are in the schema itself, their meanings in the description.
  const limit = rule.type === null || codesOf(rule.type) !== null ? null : describeType(rule.type);
  const description = describeElement(parent, rule.name, limit);
  if (rule.max === 1) return { description, ...one };
  return { description, type: 'array', minItems: 1, maxItems: rule.max, items: one };
}

function valueSchema(rule: ElementRule, type: EcfType, writing: Writing): JsonSchema {
  if (rule.name === 'TipoeCF') return { type: 'string', const: type };
  const value = rule.type!;
  const codes = codesOf(value);
  if (codes !== null) {
    const [only] = codes;
    const schema = codes.length === 1 ? { type: 'string', const: only } : { type: 'string', enum: codes };
    if (codes.length <= MOST_CODES_IN_PLACE) return schema;
    return { $ref: writing.define(rule.typeName!.replace(/Type$/, ''), schema) };
  }
  const text = {
    ...(value.minLength === undefined ? {} : { minLength: value.minLength }),
    ...(value.maxLength === undefined ? {} : { maxLength: value.maxLength }),
    ...patternOf(value),
  };
  if (!rule.takesNumber) return { type: 'string', ...text };
  const number = value.base === 'integer' ? 'integer' : 'number';
  return { type: ['string', number], ...text, ...boundsOf(value) };
}

function patternOf({ pattern, portable }: SimpleType): JsonSchema {
  if (portable !== undefined) return { pattern: `^(?:${portable})$` };
  return pattern === undefined ? {} : { pattern: portablePattern(pattern) };
}

/** The codes of a type; a whole number from 0 to 1 is a code as well. */
function codesOf({ enumeration, minInclusive, maxInclusive, pattern }: SimpleType): readonly string[] | null {
  if (enumeration !== undefined) return enumeration;
  return minInclusive === '0' && maxInclusive === '1' && pattern === undefined ? ['0', '1'] : null;
}

/** The bounds of a JSON number. A pattern without a sign allows no negative value. */
function boundsOf({ minInclusive, minExclusive, maxInclusive, pattern = '' }: SimpleType): JsonSchema {
  const isSigned = pattern.startsWith('[+-]');
  return {
    ...(minExclusive !== undefined ? { exclusiveMinimum: Number(minExclusive) } : {}),
    ...(minInclusive !== undefined ? { minimum: Number(minInclusive) } : {}),
    ...(minExclusive === undefined && minInclusive === undefined && !isSigned ? { minimum: 0 } : {}),
    ...(maxInclusive !== undefined ? { maximum: Number(maxInclusive) } : {}),
  };
}
