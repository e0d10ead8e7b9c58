import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const rules = pathToFileURL(path.join(ROOT, 'scripts/lint/rules.mjs')).href;
const { checkRules } = (await import(rules)) as {
  checkRules: (root: string, options: { prune?: boolean }) => { faults: string[] };
};
let copy: string;

/** The manifests and the table of this repository, without sources: each test adds the files that it needs. */
beforeEach(() => {
  copy = fs.mkdtempSync(path.join(os.tmpdir(), 'import-rules-'));
  fs.copyFileSync(path.join(ROOT, 'ARCHITECTURE.md'), path.join(copy, 'ARCHITECTURE.md'));
  for (const group of ['packages', 'services', 'deploy'])
    for (const name of fs.readdirSync(path.join(ROOT, group))) {
      const manifest = `${group}/${name}/package.json`;
      if (fs.existsSync(path.join(ROOT, manifest))) write(manifest, fs.readFileSync(path.join(ROOT, manifest), 'utf8'));
    }
});

afterEach(() => fs.rmSync(copy, { recursive: true, force: true }));

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

/** The violations in the copy, as `npm run lint` prints them. */
function faults(options: { prune?: boolean } = {}): string[] {
  return checkRules(copy, options).faults;
}

/** Expects exactly these violations, without the details in parentheses. */
function expectFaults(...expected: string[]): void {
  expect(faults().map((fault) => fault.replace(/ \(.*\)$/, ''))).toEqual(expected);
}

describe('imports between members', () => {
  it('a member imports what it lists', () => {
    write('packages/ecf-xml/src/index.ts', "import '@ecf/domain';\n");
    write('packages/cli/src/index.ts', "import '@ecf/ecf-xml';\n");
    write('services/query/src/index.ts', "import '@ecf/authority-client';\nimport express from 'express';\n");
    expectFaults();
  });

  it.each([
    ['by name', 'packages/ecf-xml', '@ecf/authority-client', 'packages/authority-client/src/index.ts', '@ecf/domain'],
    ['by path', 'packages/ecf-xml', '../../xml-signing/src/a.js', 'packages/xml-signing/src/a.ts', '@ecf/domain'],
    [
      'that only tests need',
      'packages/service-kit',
      '@ecf/test-servers',
      'packages/test-servers/src/index.ts',
      '@ecf/contracts',
    ],
    [
      'into a member that lists nothing',
      'packages/test-servers',
      '../../domain/src/a.js',
      'packages/domain/src/a.ts',
      'testcontainers',
    ],
    ['of a package from the registry', 'packages/ecf-xml', 'lodash', 'lodash', 'libxml2-wasm'],
  ])('an import that is not listed is a fault: %s', (_how, folder, imported, target, allowed) => {
    for (const name of ['domain', 'xml-signing']) write(`packages/${name}/src/a.ts`, '');
    write(`${folder}/src/index.ts`, `import type { A } from '${imported}';\nexport type B = A;\n`);
    expectFaults(`listed-imports-only: ${folder}/src/index.ts -> ${target}`);
    expect(faults()[0]).toContain(allowed);
  });

  it('a package for tests is no dependency of another member', () => {
    change(
      'deploy/distributed/package.json',
      '"@ecf/standalone"',
      '"@ecf/test-servers": "workspace:*", "@ecf/standalone"',
    );
    expectFaults('test-packages-for-tests-only: deploy/distributed -> @ecf/test-servers');
  });

  it('the domain imports nothing', () => {
    write('packages/domain/src/index.ts', "import fs from 'node:fs';\n");
    expectFaults('domain-imports-nothing: packages/domain/src/index.ts -> node:fs');
  });

  it('a route does not import an adapter, and a service no other service', () => {
    write(
      'services/query/src/inbound/http.ts',
      "import '../outbound/store.js';\nimport '../../../emission/src/app.js';\n",
    );
    write('services/query/src/outbound/store.ts', '');
    write('services/emission/src/app.ts', '');
    expectFaults(
      'inbound-does-not-know-outbound: services/query/src/inbound/http.ts -> services/query/src/outbound/store.ts',
      'listed-imports-only: services/query/src/inbound/http.ts -> services/emission/src/app.ts',
      'members-do-not-import-services: services/query/src/inbound/http.ts -> services/emission/src/app.ts',
    );
  });

  it('files do not import each other in a circle, not even their types', () => {
    write('packages/domain/src/a.ts', "import type { B } from './b.js';\nexport type A = B;\n");
    write('packages/domain/src/b.ts', "export { c as B } from './c.js';\n");
    write('packages/domain/src/c.ts', "export const c: import('./a.js').A = 1;\n");
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `packages/domain/src/${name}.ts`);
    expectFaults(`no-circle: ${a} -> ${b} -> ${c} -> ${a}`);
  });
});

describe('the core of a service', () => {
  const CORE = 'services/query/src/core/invoices/a.ts';

  it.each([
    ['a database', "import type pg from 'pg';", 'pg', 'is infrastructure'],
    ['a module of Node by its short name', "import { readFileSync } from 'fs';", 'node:fs', 'is infrastructure'],
    [
      'an adapter',
      "import type { A } from '../../outbound/store.js';",
      'services/query/src/outbound/store.ts',
      'is an adapter',
    ],
    [
      'a helper that loads one',
      "import { a } from '../../helper.js';",
      'services/query/src/helper.ts',
      'loads express',
    ],
    ['a helper, dynamically', "await import('../../helper.js');", 'services/query/src/helper.ts', 'loads express'],
    [
      'a type declared beside one',
      "import type { B } from '../../helper.js';",
      'services/query/src/helper.ts',
      'is declared beside express',
    ],
  ])('does not import %s', (_what, line, target, reason) => {
    change('services/query/package.json', '"express"', '"pg": "1", "express"');
    write(CORE, `${line}\n`);
    write('services/query/src/outbound/store.ts', '');
    write('services/query/src/helper.ts', "export const a = 1;\nexport * from './further.js';\n");
    write('services/query/src/further.ts', "import express from 'express';\nexport type B = 1;\n");
    expectFaults(`core-imports-no-infrastructure: ${CORE} -> ${target}`);
    expect(faults()[0]).toContain(`(${reason})`);
  });

  it('imports a type from a file that loads a database elsewhere', () => {
    write(CORE, "import type { Port } from '../../helper.js';\n");
    write('services/query/src/helper.ts', "export * from './further.js';\nexport * from './port.js';\n");
    write('services/query/src/further.ts', "import express from 'express';\n");
    write('services/query/src/port.ts', 'export interface Port {}\n');
    expectFaults();
  });
});

describe('sizes', () => {
  it('a folder with 16 files is a fault; files of tests do not count', () => {
    for (let at = 0; at < 15; at += 1) write(`packages/domain/src/rules/rule-${at}.ts`, '');
    write('packages/domain/src/rules/rule.test.ts', '');
    expectFaults();
    write('packages/domain/src/rules/rule-15.ts', '');
    expectFaults('small-folder: packages/domain/src/rules');
  });

  it.each([
    ['a function', (body: string) => `export function long() {\n${body}}\n`],
    ['a variable', (body: string) => `export const long = async () => {\n${body}};\n`],
    ['a method', (body: string) => `export const of = { long() {\n${body}} };\n`],
  ])('%s of 101 lines is a fault', (_what, make) => {
    const lines = (count: number) => make('// Ñandú\n'.repeat(count - 2));
    write('packages/domain/src/a.ts', lines(100));
    expectFaults();
    write('packages/domain/src/a.ts', lines(101));
    expectFaults('short-function: packages/domain/src/a.ts long');
  });
});

describe('exceptions', () => {
  const LIST = 'scripts/lint/exceptions.json';
  const KEY = 'packages/domain/src/index.ts -> node:fs';

  beforeEach(() => {
    write('packages/domain/src/index.ts', "import fs from 'node:fs';\n");
    write(LIST, JSON.stringify({ 'domain-imports-nothing': { [KEY]: 'The import of fs goes.' } }));
  });

  it('a violation that is listed is no fault', () => expectFaults());

  it('an exception that is no longer needed is a fault until it is removed', () => {
    write('packages/domain/src/index.ts', '');
    expectFaults(`domain-imports-nothing: "${KEY}" needs no exception; \`npm run lint -- --prune\``);
    expect(faults({ prune: true })).toEqual([]);
    expect(JSON.parse(fs.readFileSync(path.join(copy, LIST), 'utf8'))).toEqual({});
    expectFaults();
  });
});

describe('the table "Packages"', () => {
  it('a package that lists more than the table says is named', () => {
    change(
      'packages/ecf-xml/package.json',
      '"@ecf/domain": "workspace:*"',
      '"@ecf/contracts": "*", "@ecf/domain": "*"',
    );
    expectFaults(
      'ARCHITECTURE.md, table "Packages": `ecf-xml` says `domain`; its package.json lists `contracts`, `domain`',
    );
  });

  it('a package without a row and a row without a package are named', () => {
    change('ARCHITECTURE.md', '| `cli` |', '| `command-line` |');
    expect(faults()).toEqual([
      expect.stringContaining('`command-line` is no package'),
      expect.stringContaining('`cli` has no row; its package.json lists `'),
    ]);
  });
});
