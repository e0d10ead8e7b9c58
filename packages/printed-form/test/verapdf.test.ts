import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPrinter } from '@ecf/printed-form';
import { afterAll, expect, it } from '@jest/globals';
import { example, goldens, signed, withLines } from './signed.js';

const folder = mkdtempSync(path.join(tmpdir(), 'ecf-verapdf-'));
const printer = createPrinter();
afterAll(() => {
  printer.close();
  rmSync(folder, { recursive: true, force: true });
});

const hasJava = ['java', 'mvn'].every((program) => {
  try {
    execFileSync(program, ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
const test = hasJava ? it : it.skip;

test('veraPDF finds no fault in the printed forms of every golden, of hostile names and of a long document', async () => {
  const documents = new Map<string, Uint8Array>(goldens);
  const hostile = example('ecf-31');
  hostile.ECF.Encabezado.Emisor.RazonSocialEmisor = '#strong[x] 中文 العربية 😀 \u202e & <b>';
  hostile.ECF.DetallesItems.Item[0].NombreItem = 'e\u0301\u0323 ½ ﬁ \u200d';
  documents.set('hostile', await signed(hostile));
  const tagged: string[] = [];
  for (const [name, xml] of documents) {
    for (const format of ['letter', 'ticket'] as const) {
      const file = path.join(folder, `${name}-${format}.pdf`);
      writeFileSync(file, await printer.print({ xml, env: 'eCF', format }));
      tagged.push(file);
    }
  }
  const untagged = path.join(folder, 'long.pdf');
  const long = await signed(withLines(example('ecf-33'), 2001));
  writeFileSync(untagged, await printer.print({ xml: long, env: 'eCF', format: 'letter' }));

  // Maven writes into the temporary folder; what it downloads stays in its own cache.
  const pom = fileURLToPath(new URL('./verapdf/pom.xml', import.meta.url));
  const build = path.join(folder, 'target');
  const run = promisify(execFile);
  await run('mvn', ['-q', '-B', '-f', pom, `-Dbuild.folder=${build}`, 'package']);
  const classpath = `${build}/classes:${build}/lib/*`;
  const validate = async (flavour: string, files: string[]) =>
    (await run('java', ['-cp', classpath, 'Validate', flavour, ...files], { maxBuffer: 2 ** 24 })).stdout;
  const faults = (await validate('3a', tagged)) + (await validate('3b', [untagged]));
  expect(
    faults
      .trim()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([...tagged, untagged]);
});
