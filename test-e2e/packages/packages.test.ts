import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEMO_BUYER, DEMO_ISSUER } from '@ecf/deployment';
import { missing } from '@ecf/test-servers';
import { CHROMIUM } from '@ecf/test-support/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const require = createRequire(import.meta.url);

interface Packed {
  name: string;
  /** `.`, `./check` */
  entries: string[];
  tarball: string;
}

interface Result {
  code: number | null;
  output: string;
}

function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, NODE_OPTIONS: '', ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** A project outside the workspace, with nothing but the packed packages and the types of Node. */
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-packages-'));
const folders = fs
  .readdirSync(path.join(ROOT, 'packages'))
  .filter((folder) => fs.existsSync(path.join(ROOT, 'packages', folder, 'pack.json')));
const packed = await packAll();
const installed = await install();
const whenInstalled = installed ? describe : describe.skip;
const program = (name: string) => path.join(ROOT, 'test-e2e/node_modules/.bin', name);
const TYPESCRIPT = {
  '5.9': path.join(path.dirname(require.resolve('typescript-5/package.json')), 'bin/tsc'),
  '7': path.join(ROOT, 'node_modules/typescript/bin/tsc'),
};

async function packAll(): Promise<Packed[]> {
  const script = "const { packAll } = await import('./scripts/pack.mjs'); console.log(JSON.stringify(await packAll()))";
  const { code, output } = await run(process.execPath, ['--input-type=module', '-e', script], ROOT);
  if (code !== 0) throw new Error(output);
  return JSON.parse(output);
}

/** Whether the packages are installed; they depend on packages of the registry. */
async function install(): Promise<boolean> {
  fs.writeFileSync(path.join(project, 'package.json'), '{"private": true, "type": "module"}');
  const options = ['--no-audit', '--no-fund', '--prefer-offline'];
  const wanted = [...packed.map(({ tarball }) => tarball), '@types/node@20.19.43'];
  const { code, output } = await run('npm', ['install', ...options, ...wanted], project);
  if (code === 0) return true;
  if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/.test(output)) throw new Error(output);
  return missing('The npm registry', 'Connect this machine to it.') !== null;
}

afterAll(() => fs.rmSync(project, { recursive: true, force: true }));

describe.each(packed)('The package $name', ({ name, entries, tarball }) => {
  const unpacked = fs.mkdtempSync(path.join(project, 'unpacked-'));
  let files: string[];
  beforeAll(async () => {
    expect(await run('tar', ['xzf', tarball, '-C', unpacked], project)).toMatchObject({ code: 0 });
    files = fs.readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
  });

  it('names its licence, its Node versions and pinned dependencies, none of them of the workspace.', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(unpacked, 'package/package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name, license: 'Apache-2.0', type: 'module', engines: { node: '>=20.19' } });
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(JSON.stringify(manifest.exports ?? {})).not.toContain('development');
    const dependencies = Object.entries<string>(manifest.dependencies ?? {});
    expect(dependencies.filter(([other, version]) => other.startsWith('@ecf/') || !/^\d/.test(version))).toEqual([]);
  });

  it('holds a README and a licence, but no path of this machine, source map or link to the workspace.', () => {
    expect(files).toEqual(expect.arrayContaining(['package/README.md', 'package/LICENSE']));
    const texts = files.filter((file) => /\.(js|ts|json)$/.test(file));
    const local = new RegExp(`${ROOT}|(from|import\\() ?["']@ecf/|"workspace:|sourceMappingURL`);
    const read = (file: string) => fs.readFileSync(path.join(unpacked, file), 'utf8');
    expect(texts.filter((file) => local.test(read(file)))).toEqual([]);
  });

  it('has no mistake that publint finds.', async () => {
    const result = await run(program('publint'), ['run', '--strict', '--pack', 'false', 'package'], unpacked);
    expect(result).toEqual({ code: 0, output: expect.stringContaining('All good!') });
  });

  it('has types that each way to import it finds, or is the command line, which has nothing to import.', async () => {
    if (name === '@ecf-gateway/cli') {
      expect([entries, files.filter((file) => file.endsWith('.d.ts'))]).toEqual([[], []]);
      return;
    }
    const result = await run(program('attw'), [tarball, '--profile', 'esm-only', '--format', 'ascii'], project);
    expect(result).toMatchObject({ code: 0 });
  });
});

/** The fenced blocks of a page in a language, each a whole module. */
function blocks(page: string, language: string): string[] {
  const text = fs.readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block ?? '',
  );
}

whenInstalled('The installed packages', () => {
  const deployment = useDeployment();
  const certificate = testCertificate(DEMO_ISSUER.rnc);
  const pages = ['docs/packages.md', ...folders.map((folder) => `packages/${folder}/README.md`)];
  const examples = pages.flatMap((page, at) =>
    blocks(page, 'ts').map((text, block) => ({ page, block: block + 1, text, file: `example-${at}-${block + 1}` })),
  );
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: ['node'] };

  const compile = (version: keyof typeof TYPESCRIPT, options: object, files: string[]) => {
    const config = `tsconfig-${version}-${files.length}.json`;
    fs.writeFileSync(path.join(project, config), JSON.stringify({ compilerOptions: options, files }));
    return run(process.execPath, [TYPESCRIPT[version], '-p', config], project);
  };

  beforeAll(() => {
    for (const { file, text } of examples) fs.writeFileSync(path.join(project, `${file}.ts`), text);
    const sample = (name: string) => path.join(ROOT, 'examples', name);
    fs.copyFileSync(sample('ecf-31.json'), path.join(project, 'invoice.json'));
    fs.copyFileSync(sample('ecf-32.json'), path.join(project, 'consumer-invoice.json'));
    for (const name of ['signed.xml', 'received.xml']) {
      fs.copyFileSync(sample('golden/ecf-31.xml'), path.join(project, name));
    }
    fs.writeFileSync(path.join(project, 'holder.p12'), certificate.p12);
  });

  it.each(['5.9', '7'] as const)(
    'have types that compile strictly without those of Node in TypeScript %s.',
    async (version) => {
      const entries = packed.flatMap((one) => one.entries.map((entry) => path.posix.join(one.name, entry)));
      const lines = entries.map(
        (entry, at) => `import * as m${at} from '${entry}';\nconsole.log(Object.keys(m${at}));`,
      );
      fs.writeFileSync(path.join(project, 'all-entries.ts'), lines.join('\n'));
      const options = { ...compilerOptions, types: [], noEmit: true };
      expect(await compile(version, options, ['all-entries.ts'])).toEqual({ code: 0, output: '' });
    },
  );

  it('have examples that compile strictly.', async () => {
    const files = examples.map(({ file }) => `${file}.ts`);
    expect(await compile('7', { ...compilerOptions, outDir: 'examples' }, files)).toEqual({ code: 0, output: '' });
  });

  it.each(examples)('run the example $block of $page.', async ({ file, page, text }) => {
    const result = await run(process.execPath, [`examples/${file}.js`], project, {
      ECF_URL: deployment.running.demo.base_url,
      ECF_API_KEY: deployment.running.demo.api_key,
      ECF_ENV: 'TesteCF',
      ECF_ISSUER_RNC: DEMO_ISSUER.rnc,
      ECF_BUYER_RNC: DEMO_BUYER.rnc,
      ECF_CERTIFICATE: path.join(project, 'holder.p12'),
      ECF_PASSWORD: certificate.password,
    });
    expect({ page, text, ...result }).toMatchObject({ code: 0 });
    if (page === 'docs/packages.md' && text.includes('qrAddress')) {
      expect(result.output).toMatch(/^https:\/\/ecf\.dgii\.gov\.do\/testecf\/ConsultaTimbre\?\S+\n$/);
    }
  });
});

const inBrowser = installed && (CHROMIUM !== undefined || missing('Chromium', 'Install it.') !== null) ? it : it.skip;

inBrowser(
  'The check of the engine runs in a browser: it passes a good invoice and names the fault of a bad one.',
  async () => {
    const invoice = JSON.parse(fs.readFileSync(path.join(ROOT, 'examples/ecf-31.json'), 'utf8'));
    const bad = structuredClone(invoice);
    bad.ECF.Encabezado.Comprador.RNCComprador = '18888888';
    const page = `<!doctype html><pre></pre><script type="module">
    import { checkJson } from '/dist/check.js';
    const verdicts = ${JSON.stringify([invoice, bad])}.map((one) => checkJson(JSON.stringify(one)));
    document.querySelector('pre').textContent = JSON.stringify(verdicts.map(({ valid, faults }) => [valid, faults.map((f) => f.path)]));
  </script>`;
    const dist = path.join(project, 'node_modules/@ecf-gateway/engine/dist');
    const server = http.createServer((request, response) => {
      const file = path.join(dist, path.basename(request.url ?? ''));
      const isScript = request.url?.startsWith('/dist/') === true && fs.existsSync(file);
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      response.end(isScript ? fs.readFileSync(file) : page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const profile = `--user-data-dir=${path.join(project, 'chromium')}`;
      const options = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--virtual-time-budget=10000',
        '--dump-dom',
        profile,
      ];
      const { code, output } = await run(CHROMIUM as string, [...options, `http://127.0.0.1:${port}/`], project);
      const shown = /<pre>(.*)<\/pre>/.exec(output)?.[1];
      expect({ code, shown }).toEqual({
        code: 0,
        shown: '[[true,[]],[false,["ECF.Encabezado.Comprador.RNCComprador"]]]',
      });
    } finally {
      server.close();
    }
  },
);
