import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ecf, ISSUER } from './support/documents.js';
import { call, multipart } from './support/http.js';
import { certificate, sign } from './support/signing.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const main = path.join(here, '../dist/main.js');
const running: ChildProcess[] = [];
const folders: string[] = [];

/** Runs the built program; the sources may be newer. */
const built = existsSync(main);
const withProgram = built ? describe : describe.skip;
if (!built) console.log('skipped: the simulator program has not been built (tsc -b packages/authority-simulator)');

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'simulator-program-'));
  folders.push(folder);
  return folder;
}

async function start(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(main, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH ?? '', SIMULATOR_PORT: '0', ...env },
  });
  running.push(child);
  return { child, url: await readyUrl(child) };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      const line = output.split('\n', 1)[0] ?? '';
      if (output.includes('\n')) resolve((JSON.parse(line) as { url: string }).url);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${errors}`)));
  });
}

const ended = (child: ChildProcess) =>
  new Promise<[number | null, string | null]>((resolve) =>
    child.once('exit', (code, signal) => resolve([code, signal])),
  );

async function token(url: string): Promise<string> {
  const base = `${url}/testecf/autenticacion/api/autenticacion`;
  const seed = (await call(`${base}/semilla`)).text.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><');
  const xml = sign(seed.replace(/<SemillaModel [^>]*>/, '<SemillaModel>'), certificate());
  return (await call(`${base}/validarsemilla`, multipart(xml, 's.xml'))).json().token;
}

async function send(url: string, xml: string, bearer: string) {
  const upload = multipart(xml, `${ISSUER}${/<eNCF>([^<]+)/.exec(xml)?.[1]}.xml`);
  const headers = { ...upload.headers, Authorization: `Bearer ${bearer}` };
  return call(`${url}/testecf/recepcion/api/facturaselectronicas`, { ...upload, headers });
}

withProgram('the program', () => {
  beforeAll(() => {
    certificate();
  });

  it('continues after kill -9 with all answered submissions, taxpayers and tokens', async () => {
    const SIMULATOR_DATA = temporaryFolder();
    const env = { SIMULATOR_PORT: '0', SIMULATOR_DATA, PROCESSING_MS: '0' };
    const first = await start(env);
    const bearer = await token(first.url);
    await call(`${first.url}/_control/taxpayers/101672919`, { method: 'PUT', body: '{"name":"UNO","active":false}' });
    const documents = Array.from({ length: 50 }, (_, at) =>
      sign(ecf({ encf: `E31${String(at + 1).padStart(10, '0')}` }), certificate()),
    );
    const answered: string[] = [];
    const sending = Promise.allSettled(
      documents.map(async (xml) => {
        const { trackId } = (await send(first.url, xml, bearer)).json();
        answered.push(trackId);
        if (answered.length === 25) first.child.kill('SIGKILL');
      }),
    );
    await Promise.all([sending, ended(first.child)]);
    expect(answered.length).toBeGreaterThanOrEqual(25);

    const second = await start(env);
    const listed = (await call(`${second.url}/_control/submissions`)).json() as { track_id: string; id: string }[];
    expect(listed.map((each) => each.track_id)).toEqual(expect.arrayContaining(answered));
    for (const { id } of listed) {
      const bytes = (await call(`${second.url}/_control/submissions/${id}/xml`)).text;
      expect(documents).toContain(bytes);
    }
    const result = await call(`${second.url}/testecf/consultaresultado/api/consultas/estado?trackid=${answered[0]}`, {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    expect(result.json().codigo).toBe('1');
    expect((await call(`${second.url}/_control/taxpayers/101672919`)).json()).toMatchObject({ active: false });
    const repeated = (await send(second.url, documents[0] ?? '', bearer)).json().trackId;
    const again = await call(`${second.url}/testecf/consultaresultado/api/consultas/estado?trackid=${repeated}`, {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    expect(again.json().mensajes[0].codigo).toBe(1209);
  });

  it('ends on SIGTERM with 0, open connections and all, and when its parent lets go', async () => {
    const SIMULATOR_DATA = temporaryFolder();
    const first = await start({ SIMULATOR_DATA });
    await call(`${first.url}/_control/faults`, { method: 'POST', body: '{"operation":"*","kind":"timeout"}' });
    const hanging = call(`${first.url}/testecf/autenticacion/api/autenticacion/semilla`).catch(() => 'cut');
    const stopped = ended(first.child);
    await call(`${first.url}/_control/faults`);
    first.child.kill('SIGTERM');
    expect(await stopped).toEqual([0, null]);
    expect(await hanging).toBe('cut');

    const second = await start({ SIMULATOR_DATA });
    const released = ended(second.child);
    second.child.disconnect();
    expect(await released).toEqual([0, null]);
  });

  it('prints its addresses for a person, and ends with 0 on Ctrl-C', async () => {
    const child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(child);
    let text = '';
    for await (const chunk of child.stdout) {
      text += chunk;
      if (text.endsWith('ends it.\n')) child.kill('SIGINT');
    }
    const url = /Page {6}(http:\/\/127\.0\.0\.1:\d+)\//.exec(text)?.[1];
    for (const part of ['no legal effect', `${url}/_control/certificate`, `curl ${url}/_control/submissions`])
      expect(text).toContain(part);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(child.exitCode ?? (await ended(child))[0]).toBe(0);
  });

  it('explains itself, and refuses unknown options', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    const { status, stdout } = run('--help');
    expect([status, stdout.split('\n').filter((line) => line.length > 80)]).toEqual([0, []]);
    expect(run('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run('--prot', '1')).toMatchObject({ status: 2, stderr: expect.stringContaining("Unknown option '--prot'") });
  });

  it('refuses a second simulator in its folder', async () => {
    const SIMULATOR_DATA = temporaryFolder();
    await start({ SIMULATOR_DATA });
    await expect(start({ SIMULATOR_DATA })).rejects.toThrow(/Another simulator uses/);
  });

  it('reads taxpayers, key and port from its settings', async () => {
    const taxpayers = [{ rnc: '101672919', name: 'UNO', reception_url: 'http://127.0.0.1:1' }];
    const { url } = await start({
      SIMULATOR_TAXPAYERS: JSON.stringify(taxpayers),
      SIMULATOR_STATUS_KEY: 'KEY',
      SIMULATOR_LATENCY_MS: '1',
      STRICT_CERTIFICATION: 'true',
    });
    expect((await call(`${url}/_control/taxpayers`)).json()).toMatchObject(taxpayers);
    const headers = { Authorization: 'Apikey KEY' };
    expect((await call(`${url}/api/estatusservicios/obtenerestatus`, { headers })).status).toBe(200);
  });

  it('does not start with a bad setting', async () => {
    await expect(start({ SIMULATOR_PORT: '70000' })).rejects.toThrow(
      /^ended with 1: authority-simulator: SIMULATOR_PORT has to be/,
    );
  });

  it('reports that its port is in use', async () => {
    const { url } = await start({});
    await expect(start({ SIMULATOR_PORT: new URL(url).port })).rejects.toThrow(
      /port \d+ is taken\. Choose another one with --port/,
    );
  });

  it('fails a share of calls on request', async () => {
    const { url } = await start({ SIMULATOR_ERROR_RATE: '1' });
    const reply = await call(`${url}/testecf/autenticacion/api/autenticacion/semilla`);
    expect([reply.status, reply.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect((await call(`${url}/ecf/recepcionfc/api/recepcion/ecf`, { body: 'x' })).json()).toMatchObject({
      mensajes: [{ codigo: '004' }],
    });
  });
});
