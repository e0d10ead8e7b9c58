import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPrinter, type Logo, readLogo } from '@ecf/printed-form';
import { afterAll, expect, it } from '@jest/globals';
import { encode } from 'jpeg-js';
import { PNG } from 'pngjs';
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

/** A picture of 30 by 20 pixels whose opacity grows from left to right. */
const picture = { width: 30, height: 20, data: Buffer.alloc(4 * 30 * 20, 0x80) };
for (let at = 3; at < picture.data.length; at += 4) picture.data[at] = (at % 120) * 2;
const logos = {
  png: readLogo(PNG.sync.write(Object.assign(new PNG(picture), picture))),
  jpg: readLogo(encode(picture, 80).data),
};

test('veraPDF finds no fault in the printed forms of every golden, of hostile names, with a logo and of a long document', async () => {
  const hostile = example('ecf-31');
  hostile.ECF.Encabezado.Emisor.RazonSocialEmisor = '#strong[x] 中文 العربية 😀 \u202e & <b>';
  hostile.ECF.DetallesItems.Item[0].NombreItem = 'e\u0301\u0323 ½ ﬁ \u200d';
  const invoice = goldens.get('ecf-31') as Buffer;
  const documents: [name: string, xml: Uint8Array, logo?: Logo][] = [
    ...goldens,
    ['hostile', await signed(hostile)],
    ['logo-png', invoice, logos.png],
    ['logo-jpg', invoice, logos.jpg],
  ];
  const tagged: string[] = [];
  for (const [name, xml, logo = null] of documents) {
    for (const format of ['letter', 'ticket'] as const) {
      const file = path.join(folder, `${name}-${format}.pdf`);
      writeFileSync(file, await printer.print({ xml, env: 'eCF', format, logo }));
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
