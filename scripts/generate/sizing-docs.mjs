// Writes the figures of docs/sizing.md from bench/sizing.measured.json; with --check, fails when they are stale.
import fs from 'node:fs';
import path from 'node:path';
import { readMeasured } from '../../bench/dist/sizing/command.js';
import { documentationOf } from '../../bench/dist/sizing/documentation.js';
import { ROOT } from '../setup.mjs';
import { writeOrCompare } from './write-or-compare.mjs';

const PAGE = 'docs/sizing.md';
let page = fs.readFileSync(path.join(ROOT, PAGE), 'utf8');
for (const [name, text] of Object.entries(documentationOf(readMeasured()))) {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${PAGE} lacks ${begin} or ${end}`);
  page = `${before}${begin}\n${text}\n${end}${after}`;
}
writeOrCompare(new Map([[PAGE, page]]));
