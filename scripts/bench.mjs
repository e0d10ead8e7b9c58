// `npm run bench [-- name...]`: runs the benchmarks, each in its own process. Every figure is a ratio to a named
// reference measured in the same run; absolute times are printed for orientation only.
import fs from 'node:fs';
import path from 'node:path';
import { fail, ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const folder = path.join(ROOT, 'bench', 'dist');
const wanted = process.argv.slice(2);
const files = new Map(
  fs
    .readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.bench.js'))
    .map((file) => [path.basename(file, '.bench.js'), file]),
);
const all = [...files.keys()].sort();
const chosen = wanted.length === 0 ? all : all.filter((name) => wanted.includes(name));
if (chosen.length === 0) fail(`No benchmark is named ${wanted.join(', ')}.`, `There are: ${all.join(', ')}.`);
let failures = 0;
for (const name of chosen) {
  say(`benchmark: ${name}`);
  const code = await runTool(process.execPath, [path.join(folder, files.get(name))]);
  // A signal ended the benchmark, or its output is closed: no further one runs.
  if (code > 128) process.exit(code);
  if (code !== 0) failures += 1;
}
process.exit(failures === 0 ? 0 : 1);
