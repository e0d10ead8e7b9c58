import { describe, expect, it } from '@jest/globals';
import { type ElementRule, schemaOf } from '../src/catalogue/element-rules.js';
import type { SimpleType } from '../src/catalogue/simple-types.js';
import { SCHEMA_IDS } from './mutations/sample-documents.js';
import { hasSharedMaterial, sharedText } from './mutations/shared-material.js';

interface FactNode {
  name?: string;
  any?: boolean;
  min: number;
  max: number;
  type?: string;
  facets?: Record<string, unknown>;
  children?: FactNode[];
}

const whenShared = hasSharedMaterial ? describe : describe.skip;

/** Two patterns that differ between catalogue and XSD; the reasons are beside them. */
const REWRITTEN: Readonly<Record<string, string>> = {
  '^[a-zA-ZñÑáéíóúÁÉÍÓÚ,\\s]*$': '[a-zA-ZñÑáéíóúÁÉÍÓÚ,\\s]*',
  '\\w+([-+.]\\w+)*@\\w+([-.]\\w+)*\\.\\w+([-.]\\w+)*': '\\w+([-.]\\w+)*@\\w+(-\\w+)*\\.\\w+([-.]\\w+)*',
};

whenShared('the catalogue', () => {
  const facts = hasSharedMaterial
    ? (JSON.parse(sharedText('facts/catalogue.json')) as Record<string, { root: FactNode }>)
    : {};

  it.each(SCHEMA_IDS)('describes every element of %s like the facts', (id) => {
    const schema = schemaOf(id);
    const { root } = facts[id]!;
    const signature = root.children!.find((child) => child.any);
    expect(schema.signatureRequired).toBe(signature?.min === 1);
    expect(asFacts(schema.root)).toEqual(withoutSignature(root));
  });

  it('has the fifteen documents and no other', () => {
    expect([...SCHEMA_IDS].sort()).toEqual(Object.keys(facts).sort());
  });
});

function withoutSignature({ name, min, max, type, facets, children }: FactNode): FactNode {
  if (!children) return { name: name!, min, max, type: type!, facets: ownFacets(facets!) };
  return { name: name!, min, max, children: children.filter((child) => !child.any).map(withoutSignature) };
}

function ownFacets(facets: Record<string, unknown>): Record<string, unknown> {
  const pattern = (facets.pattern as string[] | undefined)?.map((each) => REWRITTEN[each] ?? each);
  return pattern ? { ...facets, pattern } : facets;
}

function asFacts(rule: ElementRule): FactNode {
  const { name, required, max, type, typeName, children } = rule;
  const min = required ? 1 : 0;
  if (!children) return { name, min, max, type: typeName!, facets: facetsOf(type!) };
  return { name, min, max, children: children.map(asFacts) };
}

function facetsOf({
  base,
  pattern,
  says: _says,
  readAs: _readAs,
  portable: _portable,
  ...others
}: SimpleType): Record<string, unknown> {
  return { base: `xs:${base}`, ...others, ...(pattern === undefined ? {} : { pattern: [pattern] }) };
}
