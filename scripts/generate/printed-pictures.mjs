// Writes docs/images: the printed form of two goldens as pictures; with --check, names the files that differ.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';

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

for (const one of PICTURES) {
  const file = path.join(ROOT, 'docs', 'images', one.file);
  const bytes = await picture(one);
  if (!process.argv.includes('--check')) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes);
  } else if (!fs.existsSync(file) || !fs.readFileSync(file).equals(bytes)) {
    process.stderr.write(`docs/images/${one.file} is not what the printed form looks like\n`);
    process.exitCode = 1;
  }
}
printer.close();
pdfium.destroy();
