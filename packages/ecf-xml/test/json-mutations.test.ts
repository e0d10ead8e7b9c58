import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkJson, checkXml, examineJson, parseXml, writeXml } from '../src/index.js';
import { expectedOfJson } from './mutations/expected-json.js';
import { asJson, mutateJson } from './mutations/json-mutations.js';
import { isPermitted } from './mutations/permitted.js';
import { Random } from './mutations/random.js';
import { baseDocument, SCHEMA_IDS } from './mutations/sample-documents.js';
import { MUTATION_SEED, MUTATIONS } from './mutations/settings.js';

describe(`mutated JSON (MUTATION_SEED=${MUTATION_SEED} MUTATIONS=${MUTATIONS})`, () => {
  it('has the verdict of libxml2 on its signed XML', () => {
    const random = new Random(MUTATION_SEED + 1);
    const differences: string[] = [];
    let valid = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      const schema = schemaOf(random.pick(SCHEMA_IDS));
      const document = asJson(baseDocument(schema, random));
      const mutations = mutateJson(document, schema, random);
      const source = JSON.stringify(document);
      const expected = expectedOfJson(document);
      if (expected) valid++;
      const checked = checkJson(document);
      const broken = checked.faults.map((fault) => fault.rule);
      if (expected !== (broken.length === 0) && !isPermitted(source, expected, broken)) {
        differences.push(
          `${schema.id}: ${mutations.join(', ')}: libxml2 ${expected ? 'accepts' : 'refuses'}\n${source.slice(0, 6000)}`,
        );
      }
      if (JSON.stringify(document) !== source) differences.push(`${mutations.join(', ')}: the check changed its input`);
    }
    const counts = `${MUTATIONS} mutated JSON documents, ${valid} of them valid, ${differences.length} differences`;
    process.stderr.write(`${counts}, MUTATION_SEED=${MUTATION_SEED}\n`);
    expect(differences.slice(0, 5)).toEqual([]);
  }, 3_600_000);

  it('is written as canonical XML that reads back equal, if it is valid', () => {
    const random = new Random(MUTATION_SEED + 2);
    for (let i = 0; i < MUTATIONS / 10; i++) {
      const schema = schemaOf(random.pick(SCHEMA_IDS));
      const document = asJson(baseDocument(schema, random));
      mutateJson(document, schema, random);
      const examined = examineJson(document, { now: new Date(0), schemaOnly: true });
      if (!examined.valid) continue;
      const written = writeXml(examined.tree!);
      const parsed = parseXml(Buffer.from(written.output));
      expect(parsed.text).toBe(written.canonical);
      expect(checkXml(parsed).tree).toEqual(examined.tree);
      expect(written.output).not.toMatch(/<(\w+)><\/\1>|\/>/);
    }
  }, 3_600_000);
});
