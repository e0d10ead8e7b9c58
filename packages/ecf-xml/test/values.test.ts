import { describe, expect, it } from '@jest/globals';
import type { XsdValidator } from 'libxml2-wasm';
import { type ElementRule, schemaOf } from '../src/catalogue/element-rules.js';
import { type SchemaId, xsd } from '../src/index.js';
import { trickyValue } from './mutations/bad-values.js';
import { compile, isValid, withParsed } from './mutations/oracle.js';
import { Random } from './mutations/random.js';
import { goodValue, SCHEMA_IDS } from './mutations/sample-documents.js';
import { MUTATION_SEED } from './mutations/settings.js';
import { hasSharedMaterial, sharedText } from './mutations/shared-material.js';

const PER_TYPE = Number(process.env.VALUES_PER_TYPE ?? 40);

describe(`values (MUTATION_SEED=${MUTATION_SEED} VALUES_PER_TYPE=${PER_TYPE})`, () => {
  it('are checked as libxml2 checks them, for every simple type of every document', () => {
    const random = new Random(MUTATION_SEED + 3);
    const differences: string[] = [];
    let compared = 0;
    for (const { id, rule } of distinctTypes()) {
      const validator = validatorOfType(id, rule.typeName!);
      for (const value of valuesFor(rule, random)) {
        const expected = accepts(validator, value);
        const fault = rule.check(value);
        compared++;
        const permitted = expected && fault === 'length' && /[\ud800-\udfff]/.test(value);
        if ((fault === null) !== expected && !permitted) {
          differences.push(
            `${id} ${rule.typeName} ${JSON.stringify(value)}: libxml2 ${expected ? 'accepts' : 'refuses'}`,
          );
        }
      }
      validator.dispose();
    }
    console.info(`${compared} values, ${differences.length} differences`);
    expect(differences.slice(0, 10)).toEqual([]);
  }, 3_600_000);
});

function valuesFor(rule: ElementRule, random: Random): string[] {
  const values = ['', ...(rule.type?.enumeration ?? [])];
  // Lengths are checked separately: libxml2 misreads some counted alternatives.
  for (let length = 0; length <= 35; length++) values.push('1'.repeat(length), 'a'.repeat(length));
  for (let i = 0; i < PER_TYPE; i++) values.push(trickyValue(rule, goodValue(rule, random), random));
  return values.map((value) => value.replace(/\p{Cs}|\0/gu, ''));
}

function distinctTypes(): { id: SchemaId; rule: ElementRule }[] {
  const found = new Map<string, { id: SchemaId; rule: ElementRule }>();
  const collect = (id: SchemaId, rule: ElementRule): void => {
    if (rule.type) found.set(`${rule.typeName} ${JSON.stringify(rule.type)}`, { id, rule });
    for (const child of rule.children ?? []) collect(id, child);
  };
  for (const id of SCHEMA_IDS) collect(id, schemaOf(id).root);
  return [...found.values()];
}

/** A validator for a single element of that type, with the types of the document's own schema. */
function validatorOfType(id: SchemaId, typeName: string): XsdValidator {
  let text = hasSharedMaterial ? sharedText(`xsd/${id}.xsd`) : xsd(id);
  if (typeName === 'Alfa20Type') text = text.replace(/value="\^(\[[^"]*\]\*)\$"/g, 'value="$1"');
  return compile(text.replace('</xs:schema>', `<xs:element name="v" type="${typeName}"/></xs:schema>`));
}

function accepts(validator: XsdValidator, value: string): boolean {
  const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };
  const source = `<v>${value.replace(/[&<>\r]/g, (c) => references[c]!)}</v>`;
  return withParsed(source, (document) => isValid(validator, document));
}
