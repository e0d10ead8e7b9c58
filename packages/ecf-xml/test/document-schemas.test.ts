import { readFileSync } from 'node:fs';
import { ECF_TYPES, type EcfType } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { MEANINGS } from '../src/catalogue/element-meanings.js';
import { type ElementRule, schemaOf } from '../src/catalogue/element-rules.js';
import { DOCUMENT_EXAMPLES } from '../src/document-examples.js';
import { documentSchema, examineJson, isAbsent } from '../src/index.js';
import { checkValue } from '../src/json/check-json.js';
import { leafText } from '../src/json/json-values.js';
import { asJson, mutateJson } from './mutations/json-mutations.js';
import { Random } from './mutations/random.js';
import { baseDocument } from './mutations/sample-documents.js';
import { MUTATION_SEED, MUTATIONS } from './mutations/settings.js';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const checks = Object.fromEntries(ECF_TYPES.map((type) => [type, ajv.compile(documentSchema(type))]));

/** Where the schema has a rule for the value: the keyword, and for a code or amount the text that breaks it. */
function refusals(type: string, document: unknown): string[] {
  const check = checks[type]!;
  if (check(document)) return [];
  return (check.errors as ErrorObject[]).map(
    ({ instancePath, keyword, message }) => `${instancePath} ${keyword}: ${message}`,
  );
}

/**
 * The document in the plain spelling that docs/integrators.md describes, from the checker's tree: codes and numbers without blanks,
 * sign and leading zeros, digits as 0 to 9.
 */
function plain(value: unknown, rule: ElementRule): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each, rule));
  if (typeof value === 'string') return plainText(value, rule);
  const entries = Object.entries(value as object).map(([name, each]) => [name, plain(each, rule.byName.get(name)!)]);
  return Object.fromEntries(entries);
}

function plainText(text: string, { type }: ElementRule): string {
  if (type?.base === 'string') {
    const hasDigits = type.pattern?.includes(String.raw`\d`);
    return hasDigits ? text.replaceAll(/[^\P{Nd}0-9]/gu, '0') : text;
  }
  const trimmed = text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  const codes = type?.enumeration ?? (type?.maxInclusive === '1' ? ['0', '1'] : undefined);
  return codes?.find((code) => Number(code) === Number(trimmed)) ?? trimmed;
}

describe('the JSON Schema of a type', () => {
  it.each(ECF_TYPES)('has an example that it accepts, and the checker with the rules: %s', (type) => {
    const example = { ECF: DOCUMENT_EXAMPLES[type] };
    expect(refusals(type, example)).toEqual([]);
    const { faults, warnings } = examineJson(example, { now: new Date('2026-06-15T12:00:00-04:00') });
    expect([faults, warnings]).toEqual([[], []]);
  });

  it('says what every element means, and describes no other', () => {
    const names = new Set<string>();
    const collect = (rule: ElementRule, group: string): void => {
      const own = `${group}/${rule.name}`;
      names.add(MEANINGS[own] === undefined ? rule.name : own);
      for (const child of rule.children ?? []) collect(child, rule.name);
    };
    for (const type of ECF_TYPES) collect(schemaOf(`ecf-${type}`).root, '');
    expect(Object.keys(MEANINGS).sort()).toEqual([...names].sort());
  });
});

/** A document with one value changed; the path is written with dots. */
function changed(type: EcfType, path: string, value: unknown): { ECF: unknown } {
  const document: Record<string, unknown> = { ECF: structuredClone(DOCUMENT_EXAMPLES[type]) };
  const names = path.split('.');
  const last = names.pop()!;
  let at = document;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return document as { ECF: unknown };
}

const accepts = (document: unknown): boolean => {
  const { checked, stricter } = checkValue(document);
  return checked.faults.length === 0 && stricter.faults.length === 0;
};

/** The rows of a table of docs/integrators.md by their first cell. */
function rowsAfter(heading: string): string[] {
  const page = readFileSync(new URL('../../../docs/integrators.md', import.meta.url), 'utf8');
  const after = page.slice(page.indexOf(heading));
  const table = after.slice(after.indexOf('\n|---')).split('\n\n')[0]!;
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!.trim());
}

const HEADER = 'ECF.Encabezado';
const LINE = 'ECF.DetallesItems.Item.0';

/** What the gateway takes beyond the plain spelling of the schema. */
const SPELLINGS: Readonly<Record<string, { document: { ECF: unknown } }>> = {
  'Absent values': { document: changed('31', `${HEADER}.Emisor.Sucursal`, null) },
  Lists: { document: changed('31', `${HEADER}.IdDoc.TipoPago`, ['1']) },
  'Escaped texts': { document: changed('31', `${HEADER}.Emisor.RazonSocialEmisor`, '&amp;'.repeat(150)) },
  'Codes and numbers': { document: changed('31', `${HEADER}.IdDoc.TipoPago`, ' +1') },
  'Digits of other scripts': { document: changed('31', `${HEADER}.Emisor.FechaEmision`, '15-06-20٢٦') },
};

/** The spelling because of which the schema refuses a document that the checker accepts; null if none explains it. */
function spellingOf(document: unknown, { instancePath, keyword, params }: ErrorObject): string | null {
  let at = document;
  for (const name of instancePath.split('/').slice(1)) {
    at = (at as Record<string, unknown>)[name];
    if (isAbsent(at)) return 'Absent values';
  }
  if (keyword === 'additionalProperties')
    return isAbsent((at as Record<string, unknown>)[params.additionalProperty]) ? 'Absent values' : null;
  if (keyword === 'maxItems' && Array.isArray(at)) return at.some(isAbsent) ? 'Absent values' : null;
  if (keyword === 'type' && Array.isArray(at) !== (params.type === 'array')) {
    if (Array.isArray(at) || params.type === 'array') return 'Lists';
  }
  if (Array.isArray(at) && (keyword === 'enum' || keyword === 'const')) return 'Lists';
  if (typeof at !== 'string') return null;
  if (at.includes('&')) return 'Escaped texts';
  if (keyword === 'maxLength') return null;
  if (/[^\P{Nd}0-9]/u.test(at)) return 'Digits of other scripts';
  return /^[ \t\r\n]*[+-]?[0-9.]+[ \t\r\n]*$/.test(at) ? 'Codes and numbers' : null;
}

interface Beyond {
  readonly document: { ECF: unknown };
  /** The faults of this kind: the rule, and the name of the element. */
  readonly rules: RegExp;
  /** Whether a value has what this kind is about. */
  readonly has: (value: unknown) => boolean;
}

const textWith = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

/** What the schema cannot say or does not say: the faults that the checker finds nevertheless. */
const BEYOND: Readonly<Record<string, Beyond>> = {
  'Numbers that the gateway gives': {
    document: changed('31', `${HEADER}.IdDoc.eNCF`, undefined),
    rules: /^schema\.required (eNCF|FechaVencimientoSecuencia)$/,
    has: (value) => value === undefined,
  },
  'Texts of blanks': {
    document: changed('31', `${HEADER}.Emisor.RazonSocialEmisor`, '  '),
    rules: /^schema\.required /,
    has: (value) => value !== undefined && isAbsent(value),
  },
  'Bounds of amounts in text': {
    document: changed('31', `${LINE}.CantidadItem`, '0'),
    rules: /^schema\.(type|length) /,
    has: textWith(/^[+-]?[0-9.]+$/),
  },
  'Digits of JSON numbers': {
    document: changed('31', `${LINE}.MontoItem`, 550.123),
    rules: /^schema\.(pattern|type|length) /,
    has: (value) => typeof value === 'number',
  },
  'Characters beyond the basic plane': {
    document: changed('31', `${HEADER}.Emisor.RazonSocialEmisor`, '😀'.repeat(80)),
    rules: /^schema\.length /,
    has: textWith(/[\u{10000}-\u{10ffff}]/u),
  },
  'Characters that XML cannot carry': {
    document: changed('31', `${HEADER}.Emisor.RazonSocialEmisor`, '\u0001'),
    rules: /^schema\.type /,
    has: textWith(/[\p{Cc}\p{Cs}\ufffe\uffff]/u),
  },
  'Punctuation outside ASCII': {
    document: changed('31', `${HEADER}.IdDoc.TerminoPago`, '30–45'),
    rules: /^schema\.pattern (TerminoPago|Correo\w+)$/,
    has: textWith(/\P{ASCII}/u),
  },
  'Values escaped already': {
    document: changed('31', `${HEADER}.Emisor.RazonSocialEmisor`, '&#32;'),
    rules: /^schema\.(required|type) /,
    has: (value) => JSON.stringify(value)?.includes('&') ?? false,
  },
};

/** The value that a fault is about: `Item[2]` is the second present one. */
function valueAt(document: unknown, path: string): unknown {
  let at = document;
  for (const step of path.split('.')) {
    const [, name, position] = /^(\w+)(?:\[(\d+)\])?$/.exec(step)!;
    at = (at as Record<string, unknown> | undefined)?.[name!];
    if (!position || !Array.isArray(at)) continue;
    at = at.filter((each) => !isAbsent(leafText(each) ?? each))[Number(position) - 1];
  }
  return at;
}

interface RuleAtPath {
  readonly rule: string;
  readonly path: string;
}

/** The kinds that explain a fault which the checker finds in a document and the schema does not. */
function kindsOf(document: unknown, { rule, path }: RuleAtPath): string[] {
  const value = valueAt(document, path);
  const fault = `${rule} ${path.split('.').at(-1)}`;
  return Object.keys(BEYOND).filter((kind) => BEYOND[kind]!.rules.test(fault) && BEYOND[kind]!.has(value));
}

describe('the differences between schema and checker', () => {
  it('are those of the tables of the documentation', () => {
    expect(rowsAfter('the schema has the plain one')).toEqual(Object.keys(SPELLINGS));
    expect(rowsAfter('finds more than the schema')).toEqual([...Object.keys(BEYOND), 'Business rules']);
  });

  it.each(Object.entries(SPELLINGS))('accepted by the checker alone: %s', (kind, { document }) => {
    expect(accepts(document)).toBe(true);
    checks['31']!(document);
    expect(new Set(checks['31']!.errors?.map((error) => spellingOf(document, error)))).toEqual(new Set([kind]));
  });

  it.each(Object.entries(BEYOND))('accepted by the schema alone: %s', (kind, { document }) => {
    expect(refusals('31', document)).toEqual([]);
    const { faults } = checkValue(document).checked;
    expect(faults.map((fault) => kindsOf(document, fault))).toEqual([[kind]]);
  });

  it('do not explain a fault of a value that has nothing of the kind.', () => {
    const name = `${HEADER}.Emisor.RazonSocialEmisor`;
    const kinds = (value: string, rule: string) => kindsOf(changed('31', name, value), { rule, path: name });
    for (const rule of ['required', 'type', 'length', 'pattern']) expect(kinds('Palma', `schema.${rule}`)).toEqual([]);
    expect(kinds('Palma &#32;', 'schema.unknown')).toEqual([]);
    const wrongCode = changed('31', `${HEADER}.IdDoc.TipoPago`, 'x');
    checks['31']!(wrongCode);
    expect(checks['31']!.errors?.map((error) => spellingOf(wrongCode, error))).toEqual([null]);
  });
});

describe(`mutated JSON (MUTATION_SEED=${MUTATION_SEED} MUTATIONS=${MUTATIONS})`, () => {
  it('is accepted by the schema in its plain spelling if the checker accepts it, and differs in the listed kinds only', () => {
    const random = new Random(MUTATION_SEED + 3);
    const refused: string[] = [];
    const unexplained: string[] = [];
    let accepted = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      const type = random.pick(ECF_TYPES);
      const schema = schemaOf(`ecf-${type}`);
      const document = asJson(baseDocument(schema, random));
      const mutations = mutateJson(document, schema, random);
      const { checked, stricter } = checkValue(document);
      const own = checks[checked.type ?? type]!;
      if (own(document)) {
        const others = checked.faults.filter((fault) => kindsOf(document, fault).length === 0);
        for (const { rule, path } of others) {
          const value = JSON.stringify(valueAt(document, path));
          unexplained.push(`schema alone: ${mutations.join(', ')}: ${rule} ${path} ${value}`);
        }
      } else if (checked.faults.length === 0 && stricter.faults.length === 0) {
        const others = own.errors!.filter((error) => spellingOf(document, error) === null);
        for (const { instancePath, message } of others)
          unexplained.push(`checker alone: ${mutations.join(', ')}: ${instancePath} ${message}`);
      }
      if (checked.faults.length > 0 || stricter.faults.length > 0 || checked.type === null) continue;
      accepted++;
      const { root } = schemaOf(`ecf-${checked.type}`);
      const found = refusals(checked.type, { ECF: plain(checked.tree!.ECF, root) });
      if (found.length > 0) refused.push(`${checked.type}: ${mutations.join(', ')}: ${found.join('; ')}`);
    }
    expect(accepted).toBeGreaterThan(MUTATIONS / 20);
    expect(refused.slice(0, 5)).toEqual([]);
    expect(unexplained.slice(0, 5)).toEqual([]);
  }, 3_600_000);
});
