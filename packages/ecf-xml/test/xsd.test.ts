import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkXml, parseXml, XmlRefused, xsd } from '../src/index.js';
import { compile, isValid, withParsed } from './mutations/oracle.js';
import { isPermitted } from './mutations/permitted.js';
import { Random } from './mutations/random.js';
import { baseDocument, SCHEMA_IDS } from './mutations/sample-documents.js';
import { MUTATION_SEED } from './mutations/settings.js';
import { mutateXml } from './mutations/xml-mutations.js';
import { serialise } from './mutations/xml-tree.js';

describe(`the XSD made from the catalogue (MUTATION_SEED=${MUTATION_SEED})`, () => {
  it.each(SCHEMA_IDS)('of %s loads in libxml2 and gives the verdicts of the check', (id) => {
    const validator = compile(xsd(id));
    const random = new Random(MUTATION_SEED + 4);
    const schema = schemaOf(id);
    for (let i = 0; i < 40; i++) {
      const document = baseDocument(schema, random);
      const mutations = mutateXml(document, schema, random);
      const source = serialise(document);
      const checked = check(source);
      // Each schema checks only its own documents.
      if (checked !== null && checked.schema !== id) continue;
      const expected = withParsed(source, (parsed) => isValid(validator, parsed));
      const broken = checked?.rules ?? ['refused'];
      if (isPermitted(source, expected, broken)) continue;
      expect({ source, mutations, valid: broken.length === 0 }).toEqual({ source, mutations, valid: expected });
    }
    validator.dispose();
  });

  it('is the same text on every call', () => {
    expect(xsd('ecf-31')).toBe(xsd('ecf-31'));
  });
});

function check(source: string): { schema: string | null; rules: string[] } | null {
  try {
    const { schema, faults } = checkXml(parseXml(Buffer.from(source)));
    return { schema, rules: faults.map(({ rule }) => rule) };
  } catch (error) {
    if (error instanceof XmlRefused) return null;
    throw error;
  }
}
