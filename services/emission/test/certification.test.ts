import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Document } from './support/documents.js';
import { type Instance, World } from './support/world.js';

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../../shared/certification');
const ISSUER = '133470616';

/** Notes come after the documents they modify, as the portal of the authority requires. */
function inOrder(): { name: string; document: Document }[] {
  const documents = readdirSync(path.join(FOLDER, 'ecf')).map((file) => ({
    name: file.replace('.json', ''),
    document: JSON.parse(readFileSync(path.join(FOLDER, 'ecf', file), 'utf8')),
  }));
  const isNote = (name: string) => name.startsWith('E33') || name.startsWith('E34');
  return [...documents.filter(({ name }) => !isNote(name)), ...documents.filter(({ name }) => isNote(name))];
}

const present = existsSync(FOLDER);
if (!present) console.warn(`skipped: the certification set is not there (${FOLDER})`);

(present ? describe : describe.skip)('a whole certification set', () => {
  let world: World;
  let emission: Instance;

  beforeAll(async () => {
    world = await World.create();
    world.register(ISSUER, world.issue('00600000009'));
    emission = await world.start();
  });
  afterAll(() => world.stop());

  it.each(present ? inOrder() : [])('$name is accepted with its values unchanged', async ({ document }) => {
    const { status, body } = await world.submit(emission, document);
    expect({ status, faults: body.faults, state: body.status, messages: body.messages }).toEqual({
      status: 200,
      faults: undefined,
      state: 'Aceptado',
      messages: [],
    });
    const total = document.ECF.Encabezado.Totales.MontoTotal;
    expect(body.xml).toContain(`<MontoTotal>${total}</MontoTotal>`);
    const expected = path.join(FOLDER, 'rfce', `${body.encf}.json`);
    expect(body.rfce_xml !== undefined).toBe(existsSync(expected));
  });
});
