// `npm run house`: measures the sources of a checkout, so that two states can be compared.
//
//   npm run house                    this checkout
//   npm run house -- --root <path>   another checkout, and the dependencies that differ from this one
//
// Production is every .ts, .mjs and .cjs file of packages, services and deploy, except tests, generated files and the packages
// for tests (packages/test-*). Those packages, bench, scripts and the support of test-e2e are counted below, each on its own.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { importCircles } from './lint/import-graph.mjs';
import { forTests, readSources, sourceFiles } from './lint/sources.mjs';
import { readWalks } from './lint/walks.mjs';
import { ROOT } from './setup.mjs';

const { values } = parseArgs({ options: { root: { type: 'string', default: ROOT } } });
const root = path.resolve(values.root);
const all = ['packages', 'services', 'deploy'].flatMap((folder) => sourceFiles(root, folder));
const production = readSources(
  root,
  all.filter((file) => !forTests(file)),
);
const lengths = [...production.values()].map(({ lines }) => lines).sort((a, b) => a - b);
const functions = [...production].flatMap(([file, source]) => source.functions.map((one) => ({ file, ...one })));
const long = functions.filter(({ lines }) => lines > 60).sort((a, b) => b.lines - a.lines);
const circles = importCircles(production);
const [largest] = folders([...production.keys()]);

print('Production', [
  ['lines', sum(lengths)],
  ['files', lengths.length],
  ['lines of a file, median', quantile(lengths, 0.5)],
  ['lines of a file, 95 of 100', quantile(lengths, 0.95)],
  ['files under 15 lines', share(lengths.filter((lines) => lines < 15).length, lengths.length)],
  ['files in the largest folder', `${largest[1]} (${largest[0]})`],
  ['folders over 15 files', folders([...production.keys()]).filter(([, count]) => count > 15).length],
  ['functions with a name', functions.filter(({ named }) => named).length],
  ['functions over 60 lines', long.length],
  ['functions over 100 lines', long.filter(({ lines }) => lines > 100).length],
  ['import circles, types included', circles.length],
]);
print('Beside production (files, lines)', [
  ['packages for tests', size(all.filter(forTests))],
  ['bench', size(sourceFiles(root, 'bench'))],
  ['scripts', size(sourceFiles(root, 'scripts'))],
  ['support of test-e2e', size(sourceFiles(root, 'test-e2e/support'))],
]);
print(
  'Walks of ARCHITECTURE.md (files)',
  readWalks(root).map(({ title, steps }) => [title, steps.length]),
);
list(
  'Functions over 60 lines',
  long.map(({ file, line, name, lines }) => `${String(lines).padStart(4)}  ${name} (${file}:${line})`),
);
list(
  'Import circles',
  circles.map((files) => files.join('\n    -> ')),
);
printDependencies(dependencies(root), dependencies(ROOT));

/** Folders with the number of source files directly in them, the largest first. */
function folders(files) {
  const counts = new Map();
  for (const file of files) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function size(files) {
  return `${files.length}, ${sum(files.map((file) => fs.readFileSync(path.join(root, file), 'utf8').split('\n').length - 1))}`;
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

function share(part, whole) {
  return `${part} (${((100 * part) / whole).toFixed(1)} %)`;
}

/** The value that this share of the sorted numbers does not exceed. */
function quantile(sorted, part) {
  return sorted[Math.ceil(sorted.length * part) - 1];
}

/** Packages from the registry: those needed at run time, and those that only development needs. */
function dependencies(checkout) {
  const found = { 'run time': new Map(), development: new Map() };
  const groups = ['packages', 'services', 'deploy'].flatMap((group) =>
    fs.readdirSync(path.join(checkout, group)).map((name) => `${group}/${name}`),
  );
  for (const folder of ['.', 'bench', 'test-e2e', ...groups]) {
    const file = path.join(checkout, folder, 'package.json');
    if (!fs.existsSync(file)) continue;
    const manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
    const shipped = groups.includes(folder) && !forTests(folder);
    const add = (kind, entries = {}) => {
      for (const [name, version] of Object.entries(entries))
        if (!version.startsWith('workspace:')) found[kind].set(name, version);
    };
    add(shipped ? 'run time' : 'development', manifest.dependencies);
    add('development', manifest.devDependencies);
  }
  for (const name of found['run time'].keys()) found.development.delete(name);
  return found;
}

function printDependencies(there, here) {
  for (const kind of Object.keys(there)) {
    const [older, newer] = [there[kind], here[kind]];
    list(
      `Dependencies, ${kind} (${older.size})`,
      [...older].sort().map(([name, version]) => `${name} ${version}`),
    );
    if (root === ROOT) continue;
    list(`Added since, ${kind}`, [...newer.keys()].filter((name) => !older.has(name)).sort());
    list(`Removed since, ${kind}`, [...older.keys()].filter((name) => !newer.has(name)).sort());
  }
}

function print(title, rows) {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  list(
    title,
    rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
  );
}

function list(title, lines) {
  process.stdout.write(`${title}\n${(lines.length > 0 ? lines : ['none']).map((line) => `  ${line}\n`).join('')}\n`);
}
