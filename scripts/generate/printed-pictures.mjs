// Writes docs/images: the printed form of two goldens as pictures; with --check, fails when one is stale.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { writeOrCompare } from './write-or-compare.mjs';

const PACKAGE = path.join(ROOT, 'packages', 'printed-form');
const require = createRequire(path.join(PACKAGE, 'package.json'));
const load = (file) => import(pathToFileURL(file).href);
const { createPrinter } = await load(path.join(PACKAGE, 'dist', 'index.js'));
const { PDFiumLibrary } = await load(require.resolve('@hyzyla/pdfium'));
const { PNG } = require('pngjs');

const PICTURES = [
  { file: 'printed-letter.png', golden: 'ecf-31', format: 'letter' },
  { file: 'printed-ticket.png', golden: 'ecf-32-large', format: 'ticket' },
];

const printer = createPrinter();
const pdfium = await PDFiumLibrary.init();

/** The first page of the printed form, 108 pixels per inch. */
async function picture({ golden, format }) {
  const xml = fs.readFileSync(path.join(ROOT, 'examples', 'golden', `${golden}.xml`));
  const document = await pdfium.loadDocument(await printer.print({ xml, env: 'eCF', format }));
  const { data, width, height } = await document.getPage(0).render({ scale: 1.5, render: 'bitmap' });
  const image = new PNG({ width, height });
  image.data = Buffer.from(data);
  document.destroy();
  return PNG.sync.write(image, { colorType: 2 });
}

const files = new Map();
for (const one of PICTURES) files.set(`docs/images/${one.file}`, await picture(one));
writeOrCompare(files);
printer.close();
pdfium.destroy();
