import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { certificate, sign } from './support/signing.js';

/** An official certification set; the authority accepted all of its documents. */
const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../../shared/certification');
const present = existsSync(folder);
const withSet = present ? describe : describe.skip;
if (!present) console.log('skipped: there is no official certification set beside the project');

const ISSUER = '133470616';
/** The order that the portal requires: documents before the notes that modify them. */
const ORDER = ['31', '32', '41', '43', '44', '45', '46', '47', '33', '34'];

const read = (kind: string): { name: string; value: unknown }[] =>
  readdirSync(path.join(folder, kind)).map((name) => ({
    name: name.replace('.json', ''),
    value: JSON.parse(readFileSync(path.join(folder, kind, name), 'utf8')),
  }));

function signed(value: unknown): string {
  const { tree, faults } = checkJson(value);
  expect(faults).toEqual([]);
  return sign(writeXml(tree ?? {}).canonical, certificate());
}

withSet('an official certification set', () => {
  let authority: Authority;
  const documents = present ? read('ecf') : [];
  const summaries = present ? read('rfce') : [];
  const replaced = new Set(summaries.map(({ name }) => name));
  const full = documents
    .filter(({ name }) => !replaced.has(name))
    .sort((a, b) => ORDER.indexOf(a.name.slice(1, 3)) - ORDER.indexOf(b.name.slice(1, 3)));

  beforeAll(async () => {
    authority = await Authority.start({ strictCertification: true });
    const set = [...full, ...summaries].map(({ value }) => value);
    const reply = await authority.control('PUT', `certification/${ISSUER}`, set);
    expect(reply.json()).toEqual({ documents: full.length + summaries.length, accepted: 0, approvals_open: false });
  });
  afterAll(() => authority?.stop());

  it.each(full.map(({ name, value }) => [name, value] as const))(
    'accepts %s, in the strict way',
    async (name, value) => {
      const trackId = await authority.send(signed(value), 'certecf', `${ISSUER}${name}.xml`);
      const { estado, mensajes } = await authority.result(trackId, 'certecf');
      expect({ estado, mensajes }).toEqual({ estado: 'Aceptado', mensajes: [{ valor: '', codigo: 0 }] });
    },
  );

  it.each(summaries.map(({ name, value }) => [name, value] as const))('accepts the summary %s', async (name, value) => {
    const reply = await authority.sendSummary(signed(value), 'certecf', `${ISSUER}${name}.xml`);
    expect(reply.json()).toMatchObject({ estado: 'Aceptado', mensajes: [{ codigo: '0', valor: '' }] });
  });

  it('opens the way for approvals', async () => {
    const progress = (await authority.control('GET', `certification/${ISSUER}`)).json();
    expect(progress.approvals_open).toBe(true);
  });
});
