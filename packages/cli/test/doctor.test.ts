import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DeploymentStateBody, type ReportedService, SERVICE_NAMES } from '@ecf/contracts';
import { createDatabaseIfMissing, migrate, serviceDatabaseUrl } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Finding } from '../src/doctor/finding.js';
import { ecf } from './ecf.js';
import { useGateway } from './gateway.js';

const folder = mkdtempSync(path.join(tmpdir(), 'ecf-doctor-'));
const REFUSED = '127.0.0.1:6553';
const NEXT_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString();

const service = (name: ReportedService['service'], more: Partial<ReportedService> = {}): ReportedService => ({
  service: name,
  version: '1.0.0',
  node: '24.11.1',
  postgres: '18.4',
  migration: '20260101000000_first',
  clocks: [{ against: 'database', seconds_ahead: 0.2 }],
  storage: null,
  ...more,
});
const SOUND: DeploymentStateBody = {
  unreachable: [],
  alarms: [],
  queues: [{ queue: 'unpublished_events', waiting: 3, oldest_seconds: 1 }],
  documents_today: [],
  authority: [],
  services: [service('gateway'), service('emission')],
};

let state: DeploymentStateBody = SOUND;
let certificateEnds = NEXT_YEAR;
let health = { status: 200, checks: { database: 'ok' } };
const answers: Record<string, () => unknown> = {
  '/admin/state': () => state,
  '/admin/accounts': () => [{ id: 'a' }],
  '/admin/accounts/a/taxpayers': () => [
    { rnc: '131000001', active: true, certificate: { not_after: certificateEnds } },
    { rnc: '131000002', active: false, certificate: { not_after: '2020-01-01T00:00:00Z' } },
  ],
  '/health/ready': () => ({ checks: health.checks }),
  '/testecf/autenticacion/api/autenticacion/semilla': () => null,
};
const gateway = http.createServer((req, res) => {
  const address = new URL(req.url ?? '', 'http://gateway').pathname;
  res.statusCode = address === '/health/ready' ? health.status : 200;
  res.setHeader('content-type', 'application/json').end(JSON.stringify(answers[address]?.() ?? null));
});
useGateway(gateway, 'ADMIN_TOKEN');

let before: NodeJS.ProcessEnv;
beforeEach(() => {
  before = { ...process.env };
  Object.assign(process.env, { DATA_DIR: path.join(folder, 'none'), SANDBOX: 'true' });
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  state = SOUND;
  certificateEnds = NEXT_YEAR;
  health = { status: 200, checks: { database: 'ok' } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The checks that need more than a gateway. */
const REST = ['--without', 'postgresql,archive,authority,backups'];

/** The findings, with the exit code. */
async function doctor(...args: string[]) {
  const { code, stdout } = await ecf(['doctor', '--json', ...args]);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const of = (subject: string) => findings.filter((finding) => finding.subject === subject);
  const faults = findings.filter(({ state }) => state === 'fault');
  return { code, findings, of, faults };
}

describe('where the gateway runs', () => {
  it('the doctor ends with 0 if the services agree and no alarm fires', async () => {
    const { code, faults, of } = await doctor(...REST);
    expect(faults).toEqual([]);
    expect(code).toBe(0);
    expect((await ecf(['doctor', '--text', ...REST])).stdout).toMatch(/^nothing to do; \d+ checks passed$/m);
    expect(of('product')).toMatchObject([{ state: 'ok', detail: '1.0.0' }]);
    expect(of('events')).toMatchObject([{ detail: '3 are not published, 0 not handled' }]);
    expect(of('taxpayers')).toMatchObject([{ detail: '1 are valid for more than 30 days' }]);
  });

  it('each fault that the services report has a remedy', async () => {
    health = { status: 503, checks: { database: 'no answer within 2000 ms' } };
    certificateEnds = new Date(Date.now() + 10 * 86_400_000).toISOString();
    const alarm = { alarm: 'EcfDeadLetters', severity: 'ticket', labels: { topic: 'invoices.v1' }, value: 2, limit: 0 };
    state = {
      ...SOUND,
      unreachable: ['query'],
      alarms: [{ ...alarm, severity: 'ticket', runbook: '/docs/guide/runbooks/events#ecfdeadletters' }],
      services: [
        service('gateway', { version: '1.1.0', clocks: [{ against: 'database', seconds_ahead: -9 }] }),
        service('reception', { storage: { free_bytes: 2 ** 30, floor_bytes: 2 ** 30 }, postgres: null }),
      ],
    };
    const { code, faults } = await doctor();
    expect(code).toBe(1);
    expect(faults.map(({ subject, detail }) => [subject, detail])).toEqual([
      ['gateway', expect.stringContaining('answers 503: database (no answer within 2000 ms)')],
      ['services', 'no answer from query'],
      ['gateway', '9.0 s behind the database'],
      ['product', '1.1.0 (gateway); 1.0.0 (reception)'],
      ['PostgreSQL', '18.4 (gateway); unknown (reception)'],
      ['reception', '1.0 GiB free, refuses documents below 1.0 GiB'],
      ['EcfDeadLetters', 'invoices.v1: 2, limit 0'],
      ['131000001', expect.stringMatching(/^the certificate ends on \d{4}-/)],
    ]);
    expect(faults.map(({ remedy }) => remedy)).not.toContain(null);
  });
});

describe('where something could not be checked', () => {
  it('the doctor ends with 1 and names it, unless it is not required', async () => {
    const { code, faults } = await doctor();
    expect([code, faults]).toEqual([1, []]);
    expect(await ecf(['doctor', '--text', '--without', 'archive'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^not everything was checked; \d+ checks passed; not checked: PostgreSQL,\sauthority,\sbackups$/m,
      ),
    });
    expect(await ecf(['doctor', '--without', 'archive,settings'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--without does not take "settings"'),
    });
  });

  it('an environment without settings counts as production, except for the data folder of a sandbox', async () => {
    for (const name of ['SANDBOX', 'ECF_URL', 'ADMIN_TOKEN']) delete process.env[name];
    process.env.AUTHORITY_URL = `http://${REFUSED}`;
    const lost = await doctor();
    expect(lost.code).toBe(1);
    const settings = lost.faults.filter(({ area }) => area === 'settings').map(({ subject }) => subject);
    expect(settings.sort()).toEqual(['DEFAULT_ENV', 'MASTER_KEY', 'TRUSTED_ISSUERS_FILE']);
    const unchecked = lost.findings.filter(({ state }) => state === 'unchecked').map(({ subject }) => subject);
    expect(unchecked).toEqual(['gateway', 'services', 'PostgreSQL', 'archive', 'newest']);
    const sandbox = mkdtempSync(path.join(folder, 'sandbox-'));
    writeFileSync(path.join(sandbox, 'demo.json'), JSON.stringify({ base_url: `http://${REFUSED}` }));
    expect((await doctor('--data-dir', sandbox)).of('environment')).toMatchObject([{ detail: 'complete for sandbox' }]);
  });

  it('a server that lacks the database of a service is at fault', async () => {
    const server = await (await startTestPostgres()).createDatabase();
    const empty = mkdtempSync(path.join(folder, 'migrations-'));
    const make = async (service: string) => {
      const url = serviceDatabaseUrl(server, service);
      await createDatabaseIfMissing(url);
      await migrate(url, empty);
      return url;
    };
    for (const service of SERVICE_NAMES.filter((name) => name !== 'query')) await make(service);
    process.env.DATABASE_URL = server;
    const missing = await doctor();
    expect(missing.faults).toMatchObject([{ detail: expect.stringMatching(/ has no database of query$/) }]);
    process.env.DATABASE_URL = await make('query');
    const own = await doctor();
    process.env.DATABASE_URL = server;
    const all = await doctor();
    expect([own, all].map(({ faults }) => faults)).toEqual([[], []]);
    expect([own, all].flatMap(({ of }) => of('PostgreSQL')).filter(({ area }) => area === 'connections')).toMatchObject(
      [
        { detail: expect.stringMatching(/, the database of a service$/) },
        { detail: expect.stringMatching(/, all databases$/) },
      ],
    );
  });
});

describe('where the gateway does not run', () => {
  it('each server that the settings name is tried', async () => {
    Object.assign(process.env, {
      ECF_URL: `http://${REFUSED}`,
      DATABASE_URL: `postgresql://ecf:secret@${REFUSED}/ecf`,
      KAFKA_BROKERS: REFUSED,
      REDIS_URL: `redis://:secret@${REFUSED}`,
      S3_ENDPOINT: `http://${REFUSED}`,
      S3_ACCESS_KEY: 'key',
      S3_SECRET_KEY: 'secret',
      AUTHORITY_URL: `http://${REFUSED}`,
    });
    const { code, faults } = await doctor();
    expect(code).toBe(1);
    expect(faults.map(({ subject }) => subject)).toEqual([
      'gateway',
      'administration',
      'PostgreSQL',
      'Kafka',
      'Redis',
      'archive',
      'authority',
    ]);
    expect(JSON.stringify(faults)).not.toContain('secret');
  });

  it('wrong and missing settings are named, and the others still checked', async () => {
    const damaged = path.join(folder, 'issuers.pem');
    writeFileSync(damaged, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    Object.assign(process.env, {
      SANDBOX: 'false',
      MASTER_KEY: 'short',
      KAFKA_BROKERS: 'no broker',
      TRUSTED_ISSUERS_FILE: damaged,
      REVOKED_CERTIFICATES_FILE: path.join(folder, 'missing'),
      AUTHORITY_URL: `http://${REFUSED}`,
    });
    const { faults, of } = await doctor();
    const settings = faults.filter(({ area }) => area === 'settings').map(({ subject }) => subject);
    expect(settings.sort()).toEqual(['DEFAULT_ENV', 'KAFKA_BROKERS', 'MASTER_KEY', 'REVOKED_CERTIFICATES_FILE']);
    expect(of('TRUSTED_ISSUERS_FILE')).toMatchObject([{ area: 'certificates', state: 'fault' }]);
    expect(of('product')).toMatchObject([{ state: 'ok' }]);
  });
});

it('a backup is at fault if it is older than a day, lacks documents, or has no manifest', async () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const manifest = path.join(folder, 'manifest.json');
  const found = async (content: string) => {
    writeFileSync(manifest, content);
    return (await doctor('--backup', folder)).of('newest')[0];
  };
  expect(await found(JSON.stringify({ taken_at: hoursAgo(3) }))).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/^3 h old, of \d{4}-/),
  });
  expect(await found(JSON.stringify({ taken_at: hoursAgo(50) }))).toMatchObject({ state: 'fault' });
  expect(await found(JSON.stringify({ taken_at: hoursAgo(1), missing: ['a.xml'] }))).toMatchObject({
    detail: expect.stringMatching(/lacks 1 documents$/),
    state: 'fault',
  });
  for (const damaged of ['', '{"taken_at": 5}', 'null']) expect(await found(damaged)).toMatchObject({ state: 'fault' });
  rmSync(manifest);
  expect((await doctor('--backup', folder)).of('newest')).toMatchObject([{ state: 'fault' }]);
});

it('the text has 80 columns, marks each fault, and says what to do', async () => {
  state = { ...SOUND, unreachable: ['query', 'approvals', 'reception', 'status-poller', 'emission'] };
  const { code, stdout } = await ecf(['doctor', '--text']);
  expect(code).toBe(1);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(stdout).toContain('  ! services              no answer from query, approvals, reception,\n');
  expect(stdout).toContain('> Start them; their logs');
  expect(stdout).toMatch(/^1 finding to act on; \d+ checks passed; not checked: /m);
});

it('a file as an argument is refused', async () => {
  expect(await ecf(['doctor', 'invoice.json'])).toMatchObject({ code: 2 });
});
