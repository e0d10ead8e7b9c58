import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES, TOPICS, type Topic } from '@ecf/contracts';
import { dockerAnswers } from '@ecf/deployment/servers';
import type { DemoProcess } from '@ecf/test-servers/deployment';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Answer, Client } from '../support/client.js';
import { bucket } from '../support/deployment/bucket.js';
import { metricsOf, readAlarms, readDashboards } from '../support/deployment/observability.js';
import { describeDistributed, type Standalone, startDistributed } from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const SETTINGS = { STATUS_WAIT_MS: '0', FIRST_QUERY_MS: '200', PROCESSING_MS: '50', APPROVAL_DEADLINE_DAYS: '30' };
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-distributed-'));
fs.chmodSync(dataDir, 0o755);
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const storage = await bucket();
let running: Standalone;

afterAll(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  await storage?.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

const client = () => new Client(running);
const processOf = (name: string) => running.processes().find((one) => one.name === name) as DemoProcess;
const alive = (pid: number | null) => pid !== null && fs.existsSync(`/proc/${pid}`);

const answers = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** Kills a process with SIGKILL and waits until it runs again under its name. */
async function killAndAwait(name: string): Promise<void> {
  const before = processOf(name);
  process.kill(before.pid as number, 'SIGKILL');
  await until(
    async () => processOf(name).pid,
    (pid) => pid !== before.pid && alive(pid),
    120_000,
  );
  expect(processOf(name)).toMatchObject({ url: before.url, metrics_url: before.metrics_url });
  if (before.url !== null) await until(() => answers(`${before.url}/health/ready`), Boolean, 120_000);
}

/** The metrics page once every process answers in time. */
async function metricsOfAll(): Promise<string> {
  let text = '';
  await until(
    async () => {
      text = await (await fetch(running.demo.metrics_url)).text();
      return SERVICE_NAMES.every((name) => text.includes(`ecf_process_up{process="${name}"} 1`));
    },
    Boolean,
    120_000,
  );
  return text;
}

/** Waits for a status of readiness. The gateway caches it for a second. */
const readiness = (status: number) =>
  until(
    () => fetch(`${running.demo.base_url}/health/ready`),
    (answer) => answer.status === status,
  );

/** Calls a gateway that may be restarting and then does not answer. */
const duringRestart = (call: () => Promise<Answer>) => () =>
  call().catch((error) => ({ text: String(error) }) as Answer);

/** Submits until the answer is 200, and waits until the document is accepted with one submission. */
async function submitted(): Promise<string> {
  const { invoice, encf } = numbers.next();
  await client().until(
    'Aceptado',
    duringRestart(() => client().submit(invoice)),
    120_000,
  );
  expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
  return encf;
}

/** A query for one number: the read model answers if the document is decided; otherwise emission is queried first. */
async function expectListed(encf: string): Promise<void> {
  const day = new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10).split('-').reverse().join('-');
  const headers = { 'rnc-issuing': '199999991', 'start-date': day, 'end-date': day };
  await client().until(
    'Aceptado',
    duringRestart(() => client().call('GET', `/invoices/${encf}`, { headers })),
    120_000,
  );
}

describeDistributed('the distributed deployment, as a new user meets it', () => {
  it('names every wrong variable of its services before it makes anything', async () => {
    const empty = path.join(dataDir, 'nothing');
    const wrong = [
      'INSTANCES',
      'KAFKA_SSL',
      'STATUS_WAIT_MS',
      'POLL_CONCURRENCY',
      'TRUSTED_ISSUERS_FILE',
      'PROCESSING_MS',
    ];
    const env = Object.fromEntries(wrong.map((name) => [name, 'no such']));
    const { message } = await startDistributed(empty, env).catch((error) => error);
    for (const name of wrong) expect(message.match(new RegExp(`^ *${name}: `, 'gm'))).toHaveLength(1);
    expect([message.includes('starting'), fs.existsSync(empty)]).toEqual([false, false]);
  });

  it('makes nothing if the port of the administration is in use', async () => {
    const empty = path.join(dataDir, 'nothing');
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const ADMIN_PORT = String((holder.address() as net.AddressInfo).port);
    await expect(startDistributed(empty, { ADMIN_PORT })).rejects.toThrow(`ADMIN_PORT ${ADMIN_PORT} on 127.0.0.1`);
    holder.close();
    expect(fs.existsSync(empty)).toBe(false);
  });

  it('starts every missing part, submits an example invoice and lists its processes', async () => {
    running = await startDistributed(dataDir, { ...SETTINGS, ...storage?.settings });
    expect(running.output()).toMatch(/^first invoice {3}E310000000001 /m);
    expect(running.processes()).toEqual(
      expect.arrayContaining(
        SERVICE_NAMES.map((name) => ({
          name,
          pid: expect.any(Number),
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
          metrics_url: expect.stringMatching(/\/metrics$/),
        })),
      ),
    );
    for (const { pid } of running.processes()) expect(alive(pid)).toBe(true);
    if (process.env.KAFKA_BROKERS === undefined) expect(processOf('kafka')).toMatchObject({ url: null });
    for (const secret of [running.demo.admin_token, fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')])
      expect(running.output()).not.toContain(secret);
    await expectListed(await submitted());
  });

  it('gives each process the keys for what it seals, and none the master key', () => {
    const { masterKey } = JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'));
    const held = SERVICE_NAMES.map((name) => {
      const environ = fs.readFileSync(`/proc/${processOf(name).pid}/environ`, 'utf8').split('\0');
      expect([name, environ.some((variable) => variable.includes(masterKey))]).toEqual([name, false]);
      const keys = environ.find((variable) => variable.startsWith('SEALING_KEYS='))?.replace('SEALING_KEYS=', '');
      return [name, keys?.split(',').map((key) => key.split(':')[0])];
    });
    expect(Object.fromEntries(held)).toEqual({
      gateway: ['taxpayer-certificate'],
      emission: ['taxpayer-certificate', 'request-certificate', 'shared-cache'],
      'status-poller': undefined,
      reception: ['taxpayer-certificate', 'token-key', 'shared-cache', 'reception-seed'],
      approvals: ['taxpayer-certificate', 'request-certificate', 'shared-cache'],
      query: ['webhook-secret'],
    });
  });

  it('has the metrics of all processes on one page', async () => {
    const text = await metricsOfAll();
    expect(text).toMatch(/^ecf_submissions_total\{(?=[^}]*process="emission")[^}]*ecf_type="31"/m);
    expect(text.match(/^# TYPE process_cpu_seconds_total /gm)).toHaveLength(1);
  });

  it('consumes the topics of the contracts, each service exactly its own', async () => {
    const text = await metricsOfAll();
    const consumed = [...text.matchAll(/^ecf_consumer_connected\{([^}]*)\}/gm)].map(([, labels = '']) =>
      ['topic', 'group', 'process'].map((name) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1]).join(' '),
    );
    const wanted = Object.values(TOPICS as Readonly<Record<string, Topic>>).flatMap(({ name, consumers }) =>
      consumers.map((service) => `${name} ${service} ${service}`),
    );
    expect(consumed.sort()).toEqual(wanted.sort());
  });

  it('serves every metric that an alarm or a dashboard names', async () => {
    const text = await metricsOfAll();
    const served = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]));
    const expressions = [
      ...readAlarms(ROOT).map(({ expr }) => expr),
      ...readDashboards(ROOT).flatMap(({ exprs }) => exprs),
    ];
    const named = new Set(expressions.flatMap(metricsOf));
    expect(named.size).toBeGreaterThan(30);
    expect([...named].filter((metric) => !served.has(metric))).toEqual([]);
  });
});

describeDistributed('processes that are killed, the broker and the database too', () => {
  it('are restarted under their names and addresses, and a document submitted meanwhile is decided once', async () => {
    const own = ['kafka', 'postgresql'].filter((name) => processOf(name) !== undefined);
    const [encf] = await Promise.all([submitted(), ...[...SERVICE_NAMES, ...own].map(killAndAwait)]);
    await expectListed(encf);
    expect(running.child.exitCode).toBeNull();
  });
});

/** A configured part, or one in a container, has no process to freeze, so its test is skipped. */
const itWhereStarted = async (address: string) =>
  (process.env[address] ?? '') === '' && !(await dockerAnswers()) ? it : it.skip;
const itWithOwnRedis = await itWhereStarted('REDIS_URL');
const itWithOwnBroker = await itWhereStarted('KAFKA_BROKERS');

/** The process id of a part that this deployment started itself. */
function ownProcess(name: 'redis' | 'kafka', command: string): number {
  const { pid } = processOf(name);
  expect(fs.readFileSync(`/proc/${pid}/comm`, 'utf8')).toContain(command);
  return pid as number;
}

/** Suspends a server while `work` runs: it accepts connections and does not answer. */
async function whileFrozen(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Whether the metrics page has this value for a process. */
const says = async (metric: string, process: string, value: string) =>
  new RegExp(`^${metric}\\{(?=[^}]*process="${process}")[^}]*\\} ${value}$`, 'm').test(await metricsOfAll());

describeDistributed('a part that no longer answers', () => {
  itWithOwnRedis(
    'Redis (of this machine): each process uses its own tokens, the metrics show it, and Redis is used again afterwards',
    async () => {
      await whileFrozen(ownProcess('redis', 'redis-server'), async () => {
        await until(
          async () => {
            await submitted();
            return says('ecf_shared_cache_up', 'emission', '0');
          },
          Boolean,
          90_000,
        );
        await readiness(200);
      });
      await until(
        async () => {
          await submitted();
          return says('ecf_shared_cache_up', 'emission', '1');
        },
        Boolean,
        90_000,
      );
    },
  );

  itWithOwnBroker(
    'the broker (of this machine): submissions are accepted, found and decided, and their events follow afterwards',
    async () => {
      const broker = ownProcess('kafka', 'java');
      const { invoice, encf } = numbers.next();
      await whileFrozen(broker, async () => {
        const { status, body } = await client().submit(invoice);
        expect({ status, encf: body.encf }).toEqual({ status: 200, encf });
        expect(
          await client().call('GET', `/invoices/${encf}`, { headers: { 'rnc-issuing': '199999991' } }),
        ).toMatchObject({
          status: 200,
          body: { encf, track_id: body.trackId },
        });
        await client().until('Aceptado', () => client().call('GET', `/invoice-status/${body.trackId}`));
        await readiness(200);
        await until(() => says('ecf_outbox_pending', 'emission', '[1-9]\\d*'), Boolean);
      });
      for (const name of ['emission', 'status-poller'])
        await until(() => says('ecf_outbox_pending', name, '0'), Boolean, 60_000);
      await expectListed(encf);
      expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
    },
  );
});

// The test cuts the connection, so the storage must be its own.
const describeOwnStorage = storage === null ? describe.skip : describeDistributed;

interface StoredFile {
  path: string;
  pending: boolean;
}

describeOwnStorage('while the storage of XML is down (the one that the test starts, not S3_ENDPOINT)', () => {
  it('a submission succeeds and is archived later; an archived document is 503 until the storage is back', async () => {
    const stored = await submitted();
    const xmlOf = (encf: string) => client().call('GET', `/${encf}/xml`, { headers: { 'rnc-issuing': '199999991' } });
    const { text: xml, status: before } = await xmlOf(stored);
    expect(before).toBe(200);
    await until(
      async () => (await client().admin('GET', '/archive/emission?limit=1000')).body.files as StoredFile[],
      (files) => files.some(({ path: name, pending }) => name.includes(stored) && !pending),
    );
    const { invoice, encf } = numbers.next();
    await storage?.line.cut();
    try {
      const accepted = await client().submit(invoice);
      expect(accepted.status).toBe(200);
      // The archiver could not move it yet, so the database still holds its bytes.
      expect((await xmlOf(encf)).text).toBe(accepted.body.xml);
      const away = await xmlOf(stored);
      expect(away).toMatchObject({
        status: 503,
        body: { code: 'service_unavailable', detail: expect.stringContaining('storage') },
      });
      expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await storage?.line.restore();
    }
    await client().until('Aceptado', () => client().submit(invoice), 120_000);
    expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
    expect((await xmlOf(stored)).text).toBe(xml);
    expect(fs.existsSync(path.join(dataDir, 'xml', 'TesteCF'))).toBe(false);
  });
});

/** Waits until none of the processes exists, and no other one names the data folder. */
async function expectNoneOf(processes: ReturnType<typeof running.processes>): Promise<void> {
  await until(
    async () => [
      ...processes.filter(({ pid }) => alive(pid)),
      ...execFileSync('ps', ['-eo', 'args='])
        .toString()
        .split('\n')
        .filter((line) => line.includes(dataDir)),
    ],
    (left) => left.length === 0,
  );
}

describeDistributed('SIGINT', () => {
  it('leaves no process behind, and the next start continues with the data, also under a new master key', async () => {
    const last = await submitted();
    const all = running.processes();
    expect(await running.end('SIGINT')).toBe(0);
    await expectNoneOf(all);
    // This start also has a new master key before the old one, and the next start the new one alone.
    const { masterKey: old } = JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'));
    const fresh = randomBytes(32).toString('base64');
    const settings = { ...SETTINGS, ...storage?.settings };
    running = await startDistributed(dataDir, { ...settings, MASTER_KEY: `${fresh},${old}` });
    expect(running.output()).not.toContain('first invoice');
    for (const label of ['your turn', 'see a fault'])
      expect(running.output()).toMatch(new RegExp(`^${label} +curl .*${running.demo.api_key}`, 'm'));
    await expectListed(last);
    const args = ['keys', 'reseal', '--data-dir', dataDir, '--json'];
    // Refused while an instance that an earlier test killed still counts.
    const reseal = async () => spawnSync(path.join(ROOT, 'node_modules/.bin/ecf'), args, { encoding: 'utf8' });
    const resealed = JSON.parse((await until(reseal, ({ status }) => status === 0)).stdout);
    expect(resealed.services.map(({ older }: { older: number }) => older)).toEqual([0, 0, 0, 0, 0]);
    expect(await running.end('SIGINT')).toBe(0);
    running = await startDistributed(dataDir, { ...settings, MASTER_KEY: fresh });
    await submitted();
    // A second signal stops the services immediately; the servers that hold data still stop in order.
    const again = running.processes();
    running.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([0, 130]).toContain(await running.end('SIGINT'));
    await expectNoneOf(again);
  });
});
