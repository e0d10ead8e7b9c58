import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { DocumentNode, DocumentValue } from '../../src/document/document-tree.js';
import { checkBusinessRules } from '../../src/rules/check.js';
import { EXAMPLES, example, SHARED } from '../documents.js';
import { NOW } from './cases.js';

const NOTHING = { faults: [], warnings: [] };

describe('documents that are in order', () => {
  it.each(EXAMPLES)('example %s has neither fault nor warning', (name) => {
    expect(checkBusinessRules(example(name), { now: NOW })).toEqual(NOTHING);
  });

  it('include every kind of document', () => {
    expect(EXAMPLES).toHaveLength(16);
  });

  if (SHARED === null) it.skip('certification set: the shared folder is absent', () => undefined);
  for (const folder of SHARED === null ? [] : ['ecf', 'rfce', 'acecf']) {
    const path = `${SHARED}certification/${folder}/`;
    it.each(readdirSync(path))(`certification ${folder}/%s has neither fault nor warning`, (file) => {
      const tree = JSON.parse(readFileSync(path + file, 'utf8')) as DocumentNode;
      expect(checkBusinessRules(tree, { now: NOW })).toEqual(NOTHING);
    });
  }
});

describe('a document with a fault or warning in each of ten thousand lines', () => {
  const lines = (line: DocumentNode): DocumentNode => {
    const tree = example('ecf-33');
    const content = tree.ECF as Record<string, DocumentValue>;
    content.DetallesItems = { Item: Array.from({ length: 10_000 }, () => line) };
    return tree;
  };

  it('lists a thousand faults and says that there are more', () => {
    const { faults } = checkBusinessRules(lines({ DescuentoMonto: '1.00' }), { now: NOW });
    expect(faults).toHaveLength(1001);
    expect(faults.at(-1)?.message).toBe('There are more than 1000 faults; the others are not listed.');
  });

  it('lists a thousand warnings and says that there are more', () => {
    const line = { CantidadItem: '1', PrecioUnitarioItem: '100.00', MontoItem: '1.00' };
    const { warnings } = checkBusinessRules(lines(line), { now: NOW });
    expect(warnings).toHaveLength(1001);
    expect(warnings.at(-1)?.message).toBe('There are more than 1000 warnings; the others are not listed.');
  });
});

describe('documents that are not whole', () => {
  const context = { now: NOW };

  it.each([
    ['nothing', {}],
    ['a foreign root', { Invoice: { Total: '1' } }],
    ['a root that is a text', { ECF: 'x' }],
    ['a seed', { SemillaModel: { valor: 'x', fecha: '2026-06-15T00:00:00-04:00' } }],
    ['a type that does not exist', { ECF: { Encabezado: { IdDoc: { TipoeCF: '42', eNCF: 'x' } } } }],
  ] as [string, DocumentNode][])('%s has no verdicts', (_name, tree) => {
    expect(checkBusinessRules(tree, context)).toEqual(NOTHING);
  });

  it('are passed over wherever an element is missing, a text, a list or a group', () => {
    for (const name of EXAMPLES) {
      for (const mutant of mutants(example(name))) {
        const { faults, warnings } = checkBusinessRules(mutant, context);
        for (const fault of [...faults, ...warnings]) expect(fault.message).not.toMatch(/undefined|null|NaN/);
      }
    }
  });
});

/** The tree with each element in turn removed, or replaced by a wrong value. */
function* mutants(tree: DocumentNode): Generator<DocumentNode> {
  const replacements: (DocumentValue | undefined)[] = [undefined, '', 'x', '-1', '9'.repeat(70), ['x'], [{}], {}, []];
  for (const path of paths(tree)) {
    for (const replacement of replacements) {
      const copy = structuredClone(tree);
      let at = copy as Record<string, unknown>;
      for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>;
      const last = path.at(-1)!;
      if (replacement !== undefined) at[last] = replacement;
      else if (Array.isArray(at)) at.splice(Number(last), 1);
      else delete at[last];
      yield copy;
    }
  }
}

function paths(value: DocumentValue, prefix: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string') return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const path = [...prefix, key];
    return [path, ...paths(child as DocumentValue, path)];
  });
}
