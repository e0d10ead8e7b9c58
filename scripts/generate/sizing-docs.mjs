// Writes the figures of docs/sizing.md from bench/sizing.measured.json; with --check, fails when they are stale.
import fs from 'node:fs';
import path from 'node:path';
import { readMeasured } from '../../bench/dist/sizing/command.js';
import { documentationOf } from '../../bench/dist/sizing/documentation.js';
import { ROOT } from '../setup.mjs';

const PAGE = path.join(ROOT, 'docs', 'sizing.md');
const stored = fs.readFileSync(PAGE, 'utf8');
let page = stored;
for (const [name, text] of Object.entries(documentationOf(readMeasured()))) {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/sizing.md lacks ${begin} or ${end}`);
  page = `${before}${begin}\n${text}\n${end}${after}`;
}
if (!process.argv.includes('--check')) fs.writeFileSync(PAGE, page);
else if (page !== stored) {
  console.error('docs/sizing.md is stale');
  process.exit(1);
}
