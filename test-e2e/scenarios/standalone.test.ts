import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Client } from '../support/client.js';
import { type Standalone, startStandalone } from '../support/deployment/standalone-process.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-standalone-'));
fs.chmodSync(dataDir, 0o755);
let running: Standalone | undefined;

afterAll(async () => {
  if (running && running.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

/** Processes whose command line names the data folder, such as the database. */
function processesOf(folder: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args=']).toString().split('\n');
  return lines.filter((line) => line.includes(folder));
}

async function expectNoProcess(): Promise<void> {
  await until(
    async () => processesOf(dataDir),
    (left) => left.length === 0,
  );
}

/** A command that the start prints. */
function commandOf({ output }: Standalone, label: string): string {
  return new RegExp(`^${label}\\s+(curl .+)$`, 'm').exec(output())?.[1] as string;
}

/** The number of the invoice with a fault. */
let mistake = '';

/** Runs the printed command with the fault: the one that README shows, and no other. */
function expectFault(printed: Standalone): void {
  mistake = JSON.parse(fs.readFileSync(path.join(dataDir, 'my-mistake.json'), 'utf8')).ECF.Encabezado.IdDoc.eNCF;
  const answer = JSON.parse(execFileSync('sh', ['-c', commandOf(printed, 'see a fault')]).toString());
  const [shown = ''] = /\{\n {2}"path"[^}]+\}/.exec(fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8')) ?? [];
  expect(answer).toMatchObject({ code: 'invalid_document', faults: [JSON.parse(shown)] });
}

describe('the standalone deployment, as a new user meets it', () => {
  it('submits an example invoice on its first start and prints the next steps', async () => {
    running = await startStandalone(dataDir);
    expect(running.output()).toMatch(/^first invoice {3}E310000000001 {3}Aceptado$/m);
    expect(running.output()).toMatch(/^confirmation {4}https:\/\/ecf\.dgii\.gov\.do\/testecf\/ConsultaTimbre\?/im);
    expect(running.demo).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: expect.any(String),
      admin_token: expect.any(String),
      issuer_rnc: expect.stringMatching(/^\d{9}$/),
      buyer_rnc: expect.stringMatching(/^\d{9}$/),
      authority_url: expect.stringMatching(/^http:/),
      metrics_url: expect.stringMatching(/^http:.*\/metrics$/),
      started_at: expect.stringMatching(/-04:00$/),
    });
    for (const secret of [running.demo.admin_token, fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')])
      expect(running.output()).not.toContain(secret);
  });

  it("prints a command that submits the reader's own invoice", () => {
    const command = commandOf(running as Standalone, 'your turn');
    const answer = JSON.parse(execFileSync('sh', ['-c', command]).toString());
    expect(answer).toMatchObject({ status: 'Aceptado', encf: 'E310000000002', trackId: expect.any(String) });
  });

  it('prints a command that submits an invoice with a fault, under a number that is not used', () => {
    expectFault(running as Standalone);
  });

  it('answers at health, metrics and the root', async () => {
    const client = new Client(running as Standalone);
    for (const route of ['/', '/health/live', '/health/ready', '/errors'])
      expect((await client.call('GET', route)).status).toBe(200);
    const metrics = await (await fetch((running as Standalone).demo.metrics_url)).text();
    expect(metrics).toContain('process_cpu_seconds_total');
  });

  it('refuses a second deployment on the same folder, naming the first', async () => {
    const words = String(await startStandalone(dataDir).catch((error: unknown) => error));
    expect(words).toMatch(/in use by process \d+ on /);
    expect(words).not.toMatch(/\n\s+at /);
  });

  it('holds its folder also while it is stopped', async () => {
    const pid = Number(/process (\d+)/.exec(fs.readFileSync(path.join(dataDir, 'deployment.lock'), 'utf8'))?.[1]);
    process.kill(pid, 'SIGSTOP');
    const words = String(await startStandalone(dataDir).catch((error: unknown) => error));
    process.kill(pid, 'SIGCONT');
    expect(words).toMatch(/in use by/);
  });

  it('stops on SIGINT with 0 and leaves no process behind', async () => {
    expect(await (running as Standalone).end('SIGINT')).toBe(0);
    await expectNoProcess();
  });

  it('continues with the data of the run before', async () => {
    running = await startStandalone(dataDir);
    expect(running.output()).not.toContain('first invoice');
    const repeat = await new Client(running).submit(readInvoice());
    expect(repeat.body).toMatchObject({ status: 'Aceptado', encf: 'E310000000002' });
    const ledger = await new Client(running).control('GET', '/submissions?encf=E310000000002&operation=recepcion');
    expect(ledger.body).toHaveLength(1);
  });

  it('prints the key and both commands again at the next start', () => {
    const own = commandOf(running as Standalone, 'your turn');
    expect(own).toContain((running as Standalone).demo.api_key);
    expect(JSON.parse(execFileSync('sh', ['-c', own]).toString())).toMatchObject({ encf: 'E310000000002' });
    const earlier = mistake;
    expectFault(running as Standalone);
    expect(mistake).not.toBe(earlier);
  });

  it('replaces its master key while it serves, and then runs without the old one', async () => {
    const { masterKey: old } = JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'));
    const fresh = randomBytes(32).toString('base64');
    await (running as Standalone).end('SIGTERM');
    running = await startStandalone(dataDir, { MASTER_KEY: `${fresh},${old}` });
    const client = new Client(running);
    const invoice = readInvoice();
    const submit = (number: number) => {
      invoice.ECF.Encabezado.IdDoc.eNCF = `E31${String(number).padStart(10, '0')}`;
      return client.submit(invoice);
    };
    const reseal = () =>
      new Promise<string>((resolve, reject) => {
        const args = ['keys', 'reseal', '--data-dir', dataDir, '--json'];
        execFile(path.join(ROOT, 'node_modules/.bin/ecf'), args, (error, out) =>
          error === null ? resolve(out) : reject(error),
        );
      });
    const [out, ...answers] = await Promise.all([reseal(), submit(4), reseal()]);
    expect(answers[0]).toMatchObject({ body: { status: 'Aceptado' } });
    const { services } = JSON.parse(out) as { services: { service: string; older: number }[] };
    expect(services.map(({ service, older }) => [service, older])).toEqual([
      ['gateway', 0],
      ['emission', 0],
      ['reception', 0],
      ['approvals', 0],
      ['query', 0],
    ]);
    await running.end('SIGTERM');
    running = await startStandalone(dataDir, { MASTER_KEY: fresh });
    const later = new Client(running);
    invoice.ECF.Encabezado.IdDoc.eNCF = 'E310000000005';
    expect((await later.submit(invoice)).body).toMatchObject({ status: 'Aceptado' });
    fs.writeFileSync(
      path.join(dataDir, 'secrets.json'),
      JSON.stringify({ ...JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')), masterKey: fresh }),
    );
  });

  it('continues after kill -9 and replaces the orphaned database', async () => {
    await (running as Standalone).end('SIGKILL');
    expect(processesOf(dataDir).length).toBeGreaterThan(0);
    running = await startStandalone(dataDir);
    const repeat = await new Client(running).submit(readInvoice());
    expect(repeat.body).toMatchObject({ status: 'Aceptado', encf: 'E310000000002' });
    const invoice = readInvoice();
    invoice.ECF.Encabezado.IdDoc.eNCF = 'E310000000003';
    expect((await new Client(running).submit(invoice)).body).toMatchObject({ status: 'Aceptado' });
    expect(await running.end('SIGTERM')).toBe(0);
    await expectNoProcess();
  });

  it('ends its database and simulator even if a second signal arrives during the stop', async () => {
    running = await startStandalone(dataDir);
    running.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([0, 130]).toContain(await running.end('SIGINT'));
    await expectNoProcess();
  });

  it('prints only that its port is in use, and leaves no process behind', async () => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as net.AddressInfo;
    const failed = await startStandalone(dataDir, { PORT: String(port), LOG_LEVEL: 'warn' }).catch((error) => error);
    holder.close();
    expect(failed.message).toMatch(new RegExp(`standalone did not start\\. .*${port}`));
    expect(failed.message).not.toMatch(/^\{/m);
    await expectNoProcess();
  });

  it('makes nothing if a port is in use, a setting is wrong, or the folder is none', async () => {
    const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-refused-'));
    const folder = path.join(parent, 'data');
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as net.AddressInfo).port);
    const refused: [settings: Record<string, string>, words: string][] = [
      [{ PORT: port }, `\\bPORT ${port} `],
      [{ METRICS_PORT: port }, `METRICS_PORT ${port} `],
      [{ STATUS_WAIT_MS: 'no such' }, 'STATUS_WAIT_MS'],
    ];
    for (const [settings, words] of refused)
      await expect(startStandalone(folder, settings)).rejects.toThrow(new RegExp(words));
    holder.close();
    await once(holder, 'close');
    const twice = { PORT: port, ADMIN_PORT: port };
    await expect(startStandalone(folder, twice)).rejects.toThrow(`ADMIN_PORT ${port} on 127.0.0.1 is in use`);
    fs.writeFileSync(path.join(parent, 'file'), '');
    await expect(startStandalone(path.join(parent, 'file'))).rejects.toThrow(/DATA_DIR .*is not a folder/);
    expect(fs.readdirSync(parent)).toEqual(['file']);
    fs.rmSync(parent, { recursive: true });
  });

  it('names every setting that production needs and that is missing in one refusal', async () => {
    const { message } = await startStandalone(dataDir, { SANDBOX: 'false' }).catch((error) => error);
    const named = [...message.matchAll(/^ {2}([A-Z_]+): is required/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(['DEFAULT_ENV', 'MASTER_KEY', 'TRUSTED_ISSUERS_FILE']);
  });

  it('names all wrong variables and their allowed values in one message, including those of the simulator, before anything starts', async () => {
    const wrong = [
      'LOG_LEVEL',
      'METRICS_PORT',
      'PORT',
      'TRUSTED_PROXIES',
      'STATUS_WAIT_MS',
      'POLL_CONCURRENCY',
      'TRUSTED_ISSUERS_FILE',
      'PROCESSING_MS',
      'STRICT_CERTIFICATION',
    ];
    const env = Object.fromEntries(wrong.map((name) => [name, 'no such']));
    const { message } = await startStandalone(dataDir, env).catch((error) => error);
    for (const name of wrong) expect(message.match(new RegExp(`^ *${name}: `, 'gm'))).toHaveLength(1);
    expect(message).toMatch(/^ *PORT: .*whole number from 0 to 65535/m);
    expect(message).not.toContain('starting');
  });
});

// biome-ignore lint/suspicious/noExplicitAny: invoice JSON is free-form here
function readInvoice(): any {
  return JSON.parse(fs.readFileSync(path.join(dataDir, 'my-invoice.json'), 'utf8'));
}
