import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkXml, parseXml, XmlRefused } from '../src/index.js';
import { expectedOfXml } from './mutations/expected-xml.js';
import { isPermitted } from './mutations/permitted.js';
import { Random } from './mutations/random.js';
import { baseDocument, SCHEMA_IDS } from './mutations/sample-documents.js';
import { MUTATION_SEED, MUTATIONS } from './mutations/settings.js';
import { mutateText } from './mutations/text-mutations.js';
import { mutateXml } from './mutations/xml-mutations.js';
import { serialise } from './mutations/xml-tree.js';

/** The rules that the structural check reports as broken; an unreadable document breaks one as well. */
function brokenRules(source: string): string[] {
  try {
    return checkXml(parseXml(Buffer.from(source))).faults.map((fault) => fault.rule);
  } catch (error) {
    if (error instanceof XmlRefused) return [error.code];
    throw error;
  }
}

describe(`mutated XML (MUTATION_SEED=${MUTATION_SEED} MUTATIONS=${MUTATIONS})`, () => {
  it('has the verdict of libxml2', () => {
    const random = new Random(MUTATION_SEED);
    const differences: string[] = [];
    let valid = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      const schema = schemaOf(random.pick(SCHEMA_IDS));
      const document = baseDocument(schema, random);
      const mutations = mutateXml(document, schema, random);
      let source = serialise(document);
      if (random.chance(0.15)) {
        source = mutateText(source, random);
        mutations.push('text');
      }
      const expected = expectedOfXml(Buffer.from(source));
      if (expected) valid++;
      const broken = brokenRules(source);
      if (expected !== (broken.length === 0) && !isPermitted(source, expected, broken)) {
        differences.push(
          `${schema.id}: ${mutations.join(', ')}: libxml2 ${expected ? 'accepts' : 'refuses'}\n${source.slice(0, 6000)}`,
        );
      }
    }
    const counts = `${MUTATIONS} mutated XML documents, ${valid} of them valid, ${differences.length} differences`;
    process.stderr.write(`${counts}, MUTATION_SEED=${MUTATION_SEED}\n`);
    expect(differences.slice(0, 5)).toEqual([]);
  }, 3_600_000);

  it('leaves unmutated documents valid', () => {
    const random = new Random(MUTATION_SEED);
    for (const id of SCHEMA_IDS) {
      for (let i = 0; i < 10; i++) {
        const source = serialise(baseDocument(schemaOf(id), random));
        expect({ source, valid: expectedOfXml(source) }).toEqual({ source, valid: true });
        expect(checkXml(parseXml(Buffer.from(source))).faults).toEqual([]);
      }
    }
  });
});
