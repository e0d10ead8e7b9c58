import { type ElementRule, type Schema, schemaOf } from '../../src/catalogue/element-rules.js';
import type { SimpleType } from '../../src/catalogue/simple-types.js';
import type { SchemaId } from '../../src/index.js';
import type { Random } from './random.js';
import { certificationDocuments } from './shared-material.js';
import { copy, element, isElement, type XmlElement } from './xml-tree.js';

export const SCHEMA_IDS: readonly SchemaId[] = [
  ...(['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const).map((type) => `ecf-${type}` as const),
  'rfce-32',
  'acecf',
  'anecf',
  'arecf',
  'semilla',
];

/** Valid values of the types with a format; for other types they follow from the facets. */
const FORMATTED: Readonly<Record<string, readonly string[]>> = {
  eNCFValidationType: ['E310000000001', 'e31000000000z'],
  eNCFType: ['E320000000001'],
  AlfaNum11Validation: ['E310000000001', 'B0100000001', 'A01000001'],
  FechaValidationType: ['01-04-2020', '31-02-2026', '1-1-1999'],
  FechaType: ['01-04-2020', ' 01-04-2020\n'],
  DateValidation: ['01-04-2020', '9-12-2099'],
  DateTimeValidationType: ['01-02-2026 10:11:12', '31-12-2026 1:2:3'],
  DateAndTimeValidation: ['01-02-2026 10:11:12', '31-12-0026 1:2:3'],
  DateAndTimeType: ['01-02-2026 10:11:12'],
  TerminoPagoValidationType: ['30', '30 días', 'Señor + 5'],
  RNCValidationType: ['133470616', '00112345678'],
  RNCType: ['133470616', '00112345678', ' 133470616 '],
  RNCValidation: ['133470616', '00112345678'],
  TelefonoValidationType: ['809-555-1234'],
  CorreoValidationType: ['a.b-c@d.e', 'ñ+1@x-y.co.do'],
  Alfa20Type: ['Juan Pérez', 'A,B'],
  Alfa60Type: ['República Dominicana', 'Haití'],
  Alfa35Type: ['Exportación'],
  Alfa3Type: ['FOB', 'C.F'],
  CodigoSeguridadeCFType: ['aB3+/x', 'ñ=  +z'],
  'xs:dateTime': ['2026-01-31T09:30:00-04:00', '2026-01-31T09:30:00.123Z'],
  'xs:string': ['Ab/+=', 'x'],
};

/** A value that the type accepts. */
export function goodValue(rule: ElementRule, random: Random): string {
  const type = rule.type!;
  const formatted = FORMATTED[rule.typeName!];
  if (formatted) return random.pick(formatted.filter((value) => rule.check(value) === null));
  if (type.enumeration) return random.pick(type.enumeration);
  return type.base === 'string' ? textOf(type, random) : numberOf(rule, random);
}

function textOf(type: SimpleType, random: Random): string {
  const { minLength = 0, maxLength = 20 } = type;
  const length = random.pick([
    Math.max(1, minLength),
    maxLength,
    Math.max(1, minLength) + random.below(1 + maxLength - Math.max(1, minLength)),
  ]);
  return 'Año 1 & "x" <y> '.repeat(70).slice(0, length);
}

function numberOf(rule: ElementRule, random: Random): string {
  for (let tries = 0; tries < 50; tries++) {
    const value = random.pick([
      '1',
      '2',
      '5.00',
      '10',
      '250.5',
      '1000',
      '12.34',
      '0',
      '99',
      '1.2345',
      '17',
      '3.125',
      '100.00',
    ]);
    if (rule.check(value) === null) return value;
  }
  return '2';
}

/**
 * A valid document of the schema.
 *
 * @param fullness how likely an optional element is, from 0 to 1
 */
export function validDocument(schema: Schema, random: Random, fullness: number): XmlElement {
  const root = sample(schema.root, schema, random, fullness);
  root.children.push(signature());
  return root;
}

function sample(rule: ElementRule, schema: Schema, random: Random, fullness: number): XmlElement {
  if (!rule.children) {
    const own = rule.name === 'TipoeCF' && schema.document === 'ECF' ? schema.id.slice(4) : goodValue(rule, random);
    return element(rule.name, [own]);
  }
  const node = element(rule.name);
  for (const child of rule.children) {
    if (!child.required && !random.chance(fullness)) continue;
    const count = child.max === 1 ? 1 : 1 + random.below(Math.min(child.max, 3));
    for (let i = 0; i < count; i++) {
      const one = sample(child, schema, random, fullness);
      // A group without content is not allowed in our documents.
      if (one.children.length > 0) node.children.push(one);
      else if (child.required) node.children.push(sample(child, schema, random, 1));
    }
  }
  return node;
}

export function signature(): XmlElement {
  const node = element('Signature', [element('SignedInfo', ['x']), element('SignatureValue', ['y'])]);
  node.attributes.push(['xmlns', 'http://www.w3.org/2000/09/xmldsig#']);
  return node;
}

/** Every element of the ten e-CF types, with a value; an element that one type forbids is valid in another. */
export function elementsOfAllTypes(): { name: string; group: string; value: string | null }[] {
  const found = new Map<string, { name: string; group: string; value: string | null }>();
  for (const id of SCHEMA_IDS.filter((each) => each.startsWith('ecf-'))) collect(schemaOf(id).root, found);
  return [...found.values()];
}

function collect(rule: ElementRule, found: Map<string, { name: string; group: string; value: string | null }>): void {
  for (const child of rule.children ?? []) {
    found.set(`${rule.name}/${child.name}`, { name: child.name, group: rule.name, value: child.children ? null : '1' });
    collect(child, found);
  }
}

/** A valid document to mutate: from the certification set if it has one of that type, else made from the catalogue. */
export function baseDocument(schema: Schema, random: Random): XmlElement {
  const certified = certifiedDocuments().get(schema.id);
  if (certified && random.chance(0.3)) return copy(random.pick(certified));
  return validDocument(schema, random, random.chance(0.03) ? 1 : random.pick([0, 0.05, 0.1, 0.2, 0.4]));
}

let certified: Map<SchemaId, XmlElement[]> | null = null;

function certifiedDocuments(): Map<SchemaId, XmlElement[]> {
  if (certified) return certified;
  certified = new Map();
  for (const { value } of certificationDocuments()) {
    const [root] = Object.keys(value) as [string];
    const type = JSON.stringify(value).match(/"TipoeCF":"(\d\d)"/)?.[1];
    const id = root === 'ECF' ? (`ecf-${type}` as SchemaId) : root === 'RFCE' ? 'rfce-32' : 'acecf';
    const document = fromJson(root, value[root]);
    if (root === 'ECF' && !document.children.some((child) => isElement(child) && child.name === 'FechaHoraFirma')) {
      document.children.push(element('FechaHoraFirma', ['01-02-2026 10:11:12']));
    }
    document.children.push(signature());
    certified.set(id, [...(certified.get(id) ?? []), document]);
  }
  return certified;
}

function fromJson(name: string, value: unknown): XmlElement {
  if (typeof value === 'string') return element(name, [value]);
  const children = Object.entries(value as object).flatMap(([key, each]) =>
    (Array.isArray(each) ? each : [each]).map((one) => fromJson(key, one)),
  );
  return element(name, children);
}
