import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkJson } from '../src/index.js';
import { asJson } from './mutations/json-mutations.js';
import { Random } from './mutations/random.js';
import { validDocument } from './mutations/sample-documents.js';

/** As deep as lists may be nested. */
const LISTS = 50;

describe('what is absent under many lists', () => {
  it.each([
    ['a text', ['Encabezado', 'Emisor', 'RazonSocialEmisor'], 'A'],
    ['the type of the document', ['Encabezado', 'IdDoc', 'TipoeCF'], '31'],
    ['a repeatable group', ['DetallesItems', 'Item'], { NumeroLinea: '1' }],
    ['a group', ['Encabezado', 'Emisor'], { RNCEmisor: '1' }],
  ])('is read once per group around it, not once per list: %s', (_, path, present) => {
    let reads = 0;
    const absent = {
      get nothing() {
        reads++;
        return '';
      },
    };
    checkJson(documentWith(path, underLists([absent, present])));
    expect(reads).toBeLessThan(20);
  });

  it('leaves the value beside it', () => {
    const value = underLists([[[''], {}, null], '31']);
    expect(checkJson(documentWith(['Encabezado', 'IdDoc', 'TipoeCF'], value)).type).toBe('31');
  });
});

function underLists(list: unknown[]): unknown {
  let value: unknown = list;
  for (let depth = 1; depth < LISTS; depth++) value = [value];
  return value;
}

function documentWith(path: readonly string[], value: unknown): unknown {
  const document = asJson(validDocument(schemaOf('ecf-31'), new Random(7), 0)) as Record<string, unknown>;
  let group = document.ECF as Record<string, unknown>;
  for (const name of path.slice(0, -1)) group = group[name] as Record<string, unknown>;
  group[path.at(-1) as string] = value;
  return document;
}
