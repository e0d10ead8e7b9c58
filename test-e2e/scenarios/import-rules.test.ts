import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
let copy: string;

/** The rules, the table and what every member lists, over modules that import nothing until a test plants an import. */
beforeEach(() => {
  copy = fs.mkdtempSync(path.join(os.tmpdir(), 'import-rules-'));
  for (const file of ['.dependency-cruiser.cjs', 'ARCHITECTURE.md', 'package.json'])
    fs.copyFileSync(path.join(ROOT, file), path.join(copy, file));
  for (const group of ['packages', 'services', 'deploy'])
    for (const name of fs.readdirSync(path.join(ROOT, group))) addMember(`${group}/${name}`);
});

afterEach(() => fs.rmSync(copy, { recursive: true, force: true }));

function addMember(folder: string): void {
  const listed = path.join(ROOT, folder, 'package.json');
  if (!fs.existsSync(listed)) return;
  write(`${folder}/package.json`, fs.readFileSync(listed, 'utf8'));
  write(`${folder}/dist/index.js`, 'export const here = true;\n');
  // What is listed, for tests or not, is linked as an installation links it.
  const links = path.join(ROOT, folder, 'node_modules', '@ecf');
  for (const name of fs.existsSync(links) ? fs.readdirSync(links) : []) {
    const link = path.join(copy, folder, 'node_modules', '@ecf', name);
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(fs.readlinkSync(path.join(links, name)), link);
  }
}

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
  fs.writeFileSync(path.join(copy, file), text);
}

function change(file: string, from: string | RegExp, to: string): void {
  const before = fs.readFileSync(path.join(copy, file), 'utf8');
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  write(file, after);
}

/** What the lint says of the copy; colours and line breaks are for people. */
function lint(): { passes: boolean; says: string } {
  const run = spawnSync(process.execPath, [path.join(ROOT, 'scripts/import-rules.mjs'), copy], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  return { passes: run.status === 0, says: `${run.stdout}${run.stderr}`.replace(/\s+/g, ' ') };
}

it('what every member lists may be imported', () => {
  write('packages/ecf-xml/dist/index.js', "import '@ecf/domain';\n");
  write('packages/cli/dist/index.js', "import '@ecf/service-kit/xml-store';\nimport '@ecf/ecf-xml';\n");
  write('packages/service-kit/dist/xml-store/index.js', 'export {};\n');
  write('services/query/dist/index.js', "import '@ecf/authority-client';\n");
  expect(lint()).toEqual({ passes: true, says: expect.stringContaining('no dependency violations found') });
});

it.each([
  ['by name', 'packages/ecf-xml', '@ecf/authority-client', '@ecf/domain'],
  ['by path', 'packages/ecf-xml', '../../authority-client/dist/index.js', '@ecf/domain'],
  ['where only its tests need it', 'packages/service-kit', '@ecf/test-servers', '@ecf/contracts, @ecf/domain'],
  ['into a package that imports nothing', 'packages/domain', '../../contracts/dist/index.js', 'nothing of the house'],
  [
    'from a service whose tests need it',
    'services/status-poller',
    '@ecf/xml-signing',
    '@ecf/authority-client, @ecf/contracts, @ecf/domain, @ecf/service-kit',
  ],
])('an import that is not listed is named with what may be imported: %s', (_how, folder, imported, allowed) => {
  write(`${folder}/dist/index.js`, `import '${imported}';\n`);
  const { passes, says } = lint();
  expect(passes).toBe(false);
  expect(says).toContain(`error imports-of-${path.basename(folder)}: ${folder}/dist/index.js`);
  expect(says).toContain(`${folder} may import: ${allowed} ("dependencies" in ${folder}/package.json)`);
});

it('a package that lists more than the table says is named', () => {
  change('packages/ecf-xml/package.json', '"@ecf/domain": "workspace:*"', '"@ecf/contracts": "*", "@ecf/domain": "*"');
  expect(lint()).toEqual({
    passes: false,
    says: expect.stringContaining(
      'ARCHITECTURE.md, table "Packages": `ecf-xml` says `domain`; its package.json lists `contracts`, `domain`',
    ),
  });
});

it('a package without a row and a row without a package are named', () => {
  change('ARCHITECTURE.md', '| `cli` |', '| `command-line` |');
  const { passes, says } = lint();
  expect(passes).toBe(false);
  expect(says).toContain('`cli` has no row; its package.json lists `domain`, `ecf-xml`, `service-kit`, `xml-signing`');
  expect(says).toContain('`command-line` is no package');
});
