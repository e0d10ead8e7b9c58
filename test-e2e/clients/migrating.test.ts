import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testCertificate } from '../support/client.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const PAGE = fs.readFileSync(path.join(ROOT, 'docs/migrating-from-dgii-ecf.md'), 'utf8');
const ENGINE = path.join(ROOT, 'packages/engine');
const LIBRARY = path.join(ROOT, 'test-e2e/node_modules/dgii-ecf');
const certificate = testCertificate('199999991');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-migrating-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeAll(() => {
  // What `npm install` does in the folder of a user.
  fs.mkdirSync(path.join(folder, 'node_modules/@ecf-gateway'), { recursive: true });
  fs.symlinkSync(ENGINE, path.join(folder, 'node_modules/@ecf-gateway/engine'));
  fs.symlinkSync(LIBRARY, path.join(folder, 'node_modules/dgii-ecf'));
  fs.writeFileSync(path.join(folder, 'certificate.p12'), certificate.p12);
});

/** What a program of the page ends with; documents as text. */
interface Results {
  readonly signed: string;
  readonly summary: string;
  readonly address: string;
  readonly isValid: boolean;
  readonly json: { readonly ECF: Record<string, unknown> };
}

/** Runs blocks of the page as one program. */
function run(name: string, blocks: readonly string[]): Results {
  const text = (value: string) => `typeof ${value} === 'string' ? ${value} : new TextDecoder().decode(${value})`;
  const program = [
    `import { readFileSync as readExample } from 'node:fs';`,
    `const invoice = JSON.parse(readExample('${ROOT}/examples/ecf-31.json', 'utf8'));`,
    `const consumer = JSON.parse(readExample('${ROOT}/examples/ecf-32.json', 'utf8'));`,
    ...blocks,
    `const results = { signed: ${text('signed')}, summary: ${text('summary')}, address, isValid, json };`,
    `process.stdout.write(JSON.stringify(results));`,
  ].join('\n');
  fs.writeFileSync(path.join(folder, `${name}.mjs`), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${name}.mjs`], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, P12_PASSWORD: certificate.password },
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** The parameters of a confirmation address; time and code differ with each signature. */
function parametersOf(address: string): [string, string][] {
  const changing = ['fechafirma', 'codigoseguridad'];
  return [...new URL(address).searchParams]
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .map(([name, value]): [string, string] => [name, changing.includes(name) ? '' : value])
    .sort();
}

describe('the page for users of dgii-ecf', () => {
  it('shows calls of both libraries that do the same, and each accepts what the other one signed', async () => {
    const blocks = [...PAGE.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
    const ofEngine = blocks.filter((block) => block.includes('@ecf-gateway/engine'));
    const ofLibrary = blocks.filter((block) => !ofEngine.includes(block));
    expect([ofLibrary.length, ofEngine.length]).toEqual([6, 7]);
    const before = run('library', ofLibrary);
    const after = run('engine', ofEngine);
    expect([before.isValid, after.isValid]).toEqual([true, true]);
    const { verify } = await import(path.join(ENGINE, 'dist/index.js'));
    for (const xml of [before.signed, before.summary, after.signed, after.summary])
      expect(verify(xml)).toMatchObject({ signature: 'valid', faults: [] });
    const { validateXMLCertificate } = await import(path.join(LIBRARY, 'dist/index.js'));
    expect(validateXMLCertificate(after.signed, { silent: true })).toMatchObject({ isValid: true });
    expect(parametersOf(after.address)).toEqual(parametersOf(before.address));
    const { FechaHoraFirma: _, ...document } = after.json.ECF;
    const invoice = JSON.parse(fs.readFileSync(path.join(ROOT, 'examples/ecf-31.json'), 'utf8'));
    expect(document).toEqual(invoice.ECF);
    const { Encabezado } = JSON.parse(JSON.stringify(before.json.ECF), (_key, value) => value?._text ?? value);
    expect(Encabezado.Totales).toEqual(invoice.ECF.Encabezado.Totales);
  });
});
