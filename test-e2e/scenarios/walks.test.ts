import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const program = pathToFileURL(path.join(ROOT, 'scripts/lint/walks.mjs')).href;
const { checkWalks, readWalks } = (await import(program)) as {
  checkWalks: (root: string) => string[];
  readWalks: (root: string) => { title: string; steps: { file: string; text: string }[] }[];
};

describe('"Three walks" of ARCHITECTURE.md', () => {
  it('lists one walk for each of the three requests', () => {
    const titles = readWalks(ROOT).map(({ title }) => title);
    expect(titles.map((title) => /^`([^`]+)`/.exec(title)?.[1])).toEqual([
      'POST /fe_Submit',
      'POST /fe/recepcion/api/ecf',
      'GET /invoices/',
    ]);
  });

  it('agrees with the imports', () => {
    // List such files in ARCHITECTURE.md, or name them in scripts/lint/walks-not-opened.json with a reason.
    expect(checkWalks(ROOT)).toEqual([]);
  });
});

describe('a walk', () => {
  const ROUTE = 'services/gateway/src/inbound/http.ts';
  const USE_CASE = 'services/emission/src/core/submit.ts';
  const ADAPTER = 'services/emission/src/outbound/store.postgres.ts';
  let root: string;

  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'walks-'));
    write(
      'packages/service-kit/package.json',
      '{"name":"@ecf/service-kit","exports":{"./http":"./src/http/index.ts"}}',
    );
    write('packages/service-kit/src/http/index.ts', "export * from './errors.js';\n");
    write('packages/service-kit/src/http/errors.ts', 'export class ApiError {}\n');
    write('services/gateway/src/core/ports.ts', 'export interface Upstream {}\n');
    write(
      ROUTE,
      "import { ApiError } from '@ecf/service-kit/http';\nimport type { Upstream } from '../core/ports.js';\n",
    );
    write('services/emission/src/inbound/http.ts', "import { submit } from '../core/submit.js';\n'/fe_Submit';\n");
    write(
      'services/emission/src/core/ports.ts',
      "import type { Store } from './store.js';\nexport type Ports = Store;\n",
    );
    write('services/emission/src/core/store.ts', 'export interface Store {}\n');
    write(USE_CASE, "import type { Ports } from './ports.js';\nexport const submit = 1;\n");
    write(ADAPTER, "import type { Store } from '../core/store.js';\n");
    notOpened('packages/service-kit/src/http/errors.ts');
  });

  afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

  function write(file: string, text: string): void {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }

  function notOpened(...files: string[]): void {
    write('scripts/lint/walks-not-opened.json', JSON.stringify({ 'a reason': files }));
  }

  const STEPS = [
    `\`${ROUTE}\`: the route`,
    '`services/emission/src/inbound/http.ts` (HTTP `/fe_Submit`): the route of the service',
    `\`${USE_CASE}\`: the use case`,
    `\`${ADAPTER}\` (port \`Store\`): the SQL`,
  ];

  function check(steps: string[] = STEPS): string[] {
    const list = steps.map((step, at) => `${at + 1}. ${step}\n`).join('');
    write('ARCHITECTURE.md', `# A\n\n## Three walks\n\n### W\n\n${list}\n## Other\n`);
    return checkWalks(root);
  }

  it('that lists everything is right', () => expect(check()).toEqual([]));

  it('names a listed file that does not exist', () => {
    expect(check([...STEPS, '`services/emission/src/gone.ts`: gone'])).toEqual([
      'W: services/emission/src/gone.ts does not exist',
    ]);
  });

  it('names a listed file that no earlier file imports', () => {
    write('services/emission/src/core/other.ts', '');
    expect(check([...STEPS, '`services/emission/src/core/other.ts`: other'])).toEqual([
      'W: no file listed before services/emission/src/core/other.ts imports it at run time',
    ]);
    write('services/emission/src/core/other.ts', "import { submit } from './submit.js';\n");
    expect(check([...STEPS, '`services/emission/src/core/other.ts`: other'])).toHaveLength(1);
  });

  it('names an import that is neither listed nor exempt', () => {
    write('services/emission/src/core/lock.ts', 'export const lock = 1;\n');
    write(
      USE_CASE,
      "import { lock } from './lock.js';\nimport type { Ports } from './ports.js';\nexport const submit = lock;\n",
    );
    expect(check()).toEqual([`W: services/emission/src/core/lock.ts is not listed (imported by ${USE_CASE})`]);
    notOpened('packages/service-kit/src/http/errors.ts', 'services/emission/src/core/lock.ts');
    expect(check()).toEqual([]);
  });

  it('names an adapter that is neither listed nor exempt', () => {
    expect(check(STEPS.slice(0, 3))).toEqual([`W: ${ADAPTER} is not listed (adapter of services/emission/)`]);
  });

  it('names a hop that the files do not show', () => {
    write('services/emission/src/inbound/http.ts', "import { submit } from '../core/submit.js';\n");
    write(USE_CASE, 'export const submit = 1;\n');
    expect(check()).toEqual([
      'W: services/emission/src/inbound/http.ts does not contain /fe_Submit',
      `W: no file listed before ${ADAPTER} uses the port Store (services/emission/src/core/store.ts)`,
    ]);
    write(ADAPTER, '');
    expect(check()).toContain(`W: ${ADAPTER} does not import the port Store`);
  });

  it('names an exemption that is not needed', () => {
    notOpened('packages/service-kit/src/http/*.ts', 'packages/domain/src/**');
    expect(check()).toEqual(['scripts/lint/walks-not-opened.json: no listed file imports packages/domain/src/**']);
  });
});
