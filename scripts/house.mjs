// `npm run house`: measures the sources of a checkout, so that two states can be compared.
//
//   npm run house                    this checkout
//   npm run house -- --root <path>   another checkout, and the dependencies that differ from this one
//
// Production is every .ts, .mjs and .cjs file of packages, services and deploy, except tests, generated files and the packages
// for tests (packages/test-*).
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { forTests, sourceFiles } from './lint/sources.mjs';
import { ROOT } from './setup.mjs';

const { values } = parseArgs({ options: { root: { type: 'string', default: ROOT } } });
const root = path.resolve(values.root);
const all = ['packages', 'services', 'deploy'].flatMap((folder) => sourceFiles(root, folder));
const production = all.filter((file) => !forTests(file));
const members = [...new Set(production.map((file) => file.split('/', 2).join('/')))];

print('Production (files, lines)', [
  ['all', size(production)],
  ...members.map((member) => [member, size(production.filter((file) => file.startsWith(`${member}/`)))]),
]);
print('Beside production (files, lines)', [
  ['packages for tests', size(all.filter(forTests))],
  ['bench', size(sourceFiles(root, 'bench'))],
  ['scripts', size(sourceFiles(root, 'scripts'))],
  ['support of test-e2e', size(sourceFiles(root, 'test-e2e/support'))],
  ['tests', size(listed(/\.test\.ts$/))],
]);
const pages = listed(/\.md$/);
print('Documentation', [
  ['pages', pages.length],
  ['words', pages.reduce((total, file) => total + read(file).split(/\s+/).length, 0)],
  ['decisions (docs/adr)', pages.filter((file) => /^docs\/adr\/\d/.test(file)).length],
  ['runbooks (docs/runbooks)', pages.filter((file) => file.startsWith('docs/runbooks/')).length],
]);
print('Interfaces', [
  ['settings', distinct(/^\| `([A-Z][A-Z0-9_]+)` \|/gm, ['docs/configuration.md'])],
  ['metrics', distinct(/name: '(ecf_\w+)'/g, production)],
  ['migrations', listed(/\/migration\.sql$/).length],
]);
printDependencies(dependencies(root), dependencies(ROOT));

/** The files of the checkout, without hidden, installed and compiled ones, whose path matches. */
function listed(pattern, folder = '') {
  return fs
    .readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !['node_modules', 'dist', 'generated'].includes(name))
    .flatMap((entry) => {
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return listed(pattern, file);
      return pattern.test(file) ? [file] : [];
    });
}

function read(file) {
  return fs.readFileSync(path.join(root, file), 'utf8');
}

function distinct(pattern, files) {
  return new Set(files.flatMap((file) => [...read(file).matchAll(pattern)].map(([, name]) => name))).size;
}

function size(files) {
  return `${files.length}, ${files.reduce((total, file) => total + read(file).split('\n').length - 1, 0)}`;
}

/** Packages from the registry: needed at run time, and needed by development only. */
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
