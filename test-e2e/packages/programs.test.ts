/** The published programs, `ecf` and the authority simulator, as a user has them: installed in an empty project. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment/deployment.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const EXAMPLE = path.join(ROOT, 'examples/ecf-31.json');
/** A client that was written for the authority itself: login, submission, results, approval, directory. */
const OTHER_CLIENT = path.join(ROOT, 'packages/authority-simulator/test/support/independent-client.cjs');
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-programs-'));
const inProject = (name: string) => path.join(project, name);

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      cwd: project,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const npx = (...args: string[]) => run('npx', ['--offline', ...args]);
const ecf = (args: string[], env: Record<string, string> = {}) => run(inProject('node_modules/.bin/ecf'), args, env);

/** The `sh` blocks of a page, without the lines that install or that name a gateway. */
function blocksOf(folder: string): string[] {
  const page = fs.readFileSync(path.join(ROOT, 'packages', folder, 'README.md'), 'utf8');
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.replace(/^(npm install|export) .*\n/gm, ''),
  );
}

/** Runs a block as a user pastes it, with the installed programs in the PATH. */
const paste = (block = 'false', env: Record<string, string> = {}) =>
  run('sh', ['-ec', block], { ...env, PATH: `${inProject('node_modules/.bin')}:${process.env.PATH}` });

/** The tarballs of folders in packages/. They go into the project, so that other tests may pack at the same time. */
async function pack(...folders: string[]): Promise<string[]> {
  const script = `const { pack } = await import(${JSON.stringify(path.join(ROOT, 'scripts/pack.mjs'))});
    const packed = [];
    for (const folder of ${JSON.stringify(folders)}) packed.push(await pack(folder, ${JSON.stringify(project)}));
    process.stdout.write(JSON.stringify(packed.map(({ tarball }) => tarball)));`;
  const { code, stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Installs tarballs; false if their dependencies cannot be fetched. */
async function install(...tarballs: string[]): Promise<boolean> {
  const { code, stderr } = await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs]);
  if (code === 0) return true;
  if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/.test(stderr)) throw new Error(stderr);
  return missing('The npm registry', 'Connect this machine to it.') !== null;
}

fs.writeFileSync(inProject('package.json'), '{"private": true}');
const installed = await install(...(await pack('cli', 'authority-simulator')));
const whenInstalled = installed ? describe : describe.skip;

afterAll(() => fs.rmSync(project, { recursive: true, force: true }));

whenInstalled('The installed simulator', () => {
  let simulator: ChildProcess;
  let url = '';
  beforeAll(async () => {
    // Its own process group, so that all of it gets what Ctrl-C sends.
    // It decides immediately, because the other client queries each result once.
    const env = { ...process.env, PROCESSING_MS: '0' };
    const options = { cwd: project, env, stdio: 'pipe', detached: true } as const;
    simulator = spawn('npx', ['--offline', 'authority-simulator', '--port', '0'], options);
    url = await new Promise((resolve, reject) => {
      let text = '';
      simulator.stdout?.on('data', (chunk) => {
        text += chunk;
        const found = /Page {6}(http:\S+)\/\n/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      simulator.once('exit', () => reject(new Error(text)));
    });
    const certificate = await fetch(`${url}/_control/certificate?rnc=131880738`);
    fs.writeFileSync(inProject('test.p12'), Buffer.from(await certificate.arrayBuffer()));
    fs.writeFileSync(inProject('password.txt'), 'simulador\n');
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => simulator.once('exit', resolve));
    process.kill(-(simulator.pid as number), 'SIGINT');
    await ended;
  });

  it('serves a client that was written for the authority, with the certificate that it gives.', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [
      OTHER_CLIENT,
      url,
      inProject('test.p12'),
      'simulador',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      token: { token: expect.any(String) },
      result: { estado: 'Aceptado' },
      summary: { estado: 'Aceptado' },
      approval: { codigo: '01' },
    });
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<h2>Documents</h2>');
  });

  it('gives a certificate with which the installed command signs, as the pages of both show.', async () => {
    const [, certificate, fault] = blocksOf('authority-simulator').map((block) =>
      block.replaceAll('http://127.0.0.1:4010', url),
    );
    expect(await paste(certificate)).toMatchObject({ code: 0 });
    expect(JSON.parse((await paste(fault)).stdout)).toEqual({ id: expect.any(String) });

    fs.copyFileSync(EXAMPLE, inProject('invoice.json'));
    fs.copyFileSync(inProject('test.p12'), inProject('holder.p12'));
    const [check, sign] = blocksOf('cli');
    expect(await paste(check)).toMatchObject({ code: 0, stdout: expect.stringContaining('"valid":true') });
    const { code, stdout, stderr } = await paste(sign);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('"signature":"valid"');
    expect(stdout).toMatch(/^https:\/\/ecf\.dgii\.gov\.do\/testecf\/ConsultaTimbre\?\S+\n$/m);
  });
});

whenInstalled('The installed command', () => {
  it('checks by npx, and names its version.', async () => {
    const checked = await npx('ecf', 'check', '--json', EXAMPLE);
    expect([checked.code, JSON.parse(checked.stdout)]).toEqual([0, expect.objectContaining({ valid: true })]);
    const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(await ecf(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('checks a large file in threads, a row for each line.', async () => {
    const line = JSON.stringify(JSON.parse(fs.readFileSync(EXAMPLE, 'utf8')));
    const lines = Math.ceil((9 * 1024 * 1024) / line.length);
    fs.writeFileSync(inProject('many.ndjson'), `${line}\n`.repeat(lines));
    const { code, stdout } = await ecf(['check', '--json', '--quiet', 'many.ndjson']);
    const rows = stdout.trim().split('\n');
    expect([code, rows.length]).toEqual([0, lines]);
    expect(JSON.parse(rows.at(-1) ?? '')).toMatchObject({ line: lines, valid: true });
  });

  it('says how to install the printed form, and prints once it is installed.', async () => {
    fs.copyFileSync(path.join(ROOT, 'examples/golden/ecf-31.xml'), inProject('signed.xml'));
    const refused = await paste(blocksOf('cli')[2]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('`npm install @ecf-gateway/printed-form`'),
    ]);
    if (!(await install(...(await pack('printed-form'))))) return;
    expect(await paste(blocksOf('cli')[2])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(fs.readFileSync(inProject('invoice.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  });
});

whenInstalled('The installed command with a gateway', () => {
  const deployment = useDeployment();

  it('submits, lists deliveries and dead letters, and verifies the archive.', async () => {
    const document = JSON.parse(fs.readFileSync(EXAMPLE, 'utf8'));
    const numbers = ['E310000000071', 'E310000000072'];
    const lines = numbers.map((eNCF) => {
      document.ECF.Encabezado.IdDoc.eNCF = eNCF;
      return `${JSON.stringify(document)}\n`;
    });
    fs.writeFileSync(inProject('invoices.ndjson'), lines.join(''));
    const { base_url, api_key } = deployment.running.demo;
    const env = { ECF_URL: base_url, ECF_API_KEY: api_key, DATA_DIR: deployment.dataDir };
    const submitted = await ecf(['submit', 'invoices.ndjson', '--env', 'TesteCF'], env);
    expect([submitted.code, submitted.stderr]).toEqual([0, expect.stringContaining('2 documents, 2 accepted')]);
    const results = submitted.stdout
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    expect(results.map(({ encf }) => encf)).toEqual(numbers);

    const data = { DATA_DIR: deployment.dataDir };
    expect(await ecf(['dlq', 'list', '--text'], data)).toEqual({
      code: 0,
      stdout: '0 dead letters found\n',
      stderr: '',
    });
    expect(await ecf(['deliveries', 'list', '--json'], data)).toMatchObject({ code: 0, stderr: '' });
    expect((await ecf(['audit', 'verify', '--text'], data)).stdout).toMatch(/^\d+ entries, whole/);
    const archive = await ecf(['verify-archive', '--json'], data);
    expect([archive.code, archive.stderr]).toEqual([0, expect.stringContaining(' 0 missing, 0 altered')]);
  });
});
