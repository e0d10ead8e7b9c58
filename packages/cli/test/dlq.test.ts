import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type BusEvent, createDeadLetters } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { run as runHere } from '../src/run.js';
import { type Ran, rows } from './ecf.js';

const topic = 'approvals.v1';
const folder = mkdtempSync(join(tmpdir(), 'ecf-dlq-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function decision(encf: string): BusEvent {
  const about = { env: 'TesteCF', issuer_rnc: '131000001', encf, buyer_rnc: '131000002' };
  const data = { direction: 'given', ...about, revision: 1, approval_status: 'approved', approval_datetime: null };
  const draft = {
    topic,
    type: 'approval.changed',
    source: 'approvals',
    subject: encf,
    key: `TesteCF:131000001:${encf}`,
  };
  return makeEvent({ ...draft, data }, { id: randomUUID(), time: new Date() });
}

/** Runs the command in this process: a process for each would take longer than the rest of the test. */
async function ecf(args: string[], env: Record<string, string>): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    new PassThrough().on('data', (text: Buffer) => {
      written[name] += text.toString();
    });
  const console = { stdin: process.stdin, stdout: stream('stdout'), stderr: stream('stderr') };
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const code = await runHere(['dlq', ...args], console as never);
    return { code, ...written };
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

describe('ecf dlq', () => {
  // Two services of the deployment; the databases of the others do not exist.
  const databases: Record<string, Database> = {};
  let server: URL;
  const run = (...args: string[]) => ecf(args, { DATABASE_URL: server.href });
  const events = [decision('E310000000001'), decision('E310000000002'), decision('E310000000003')] as const;

  beforeAll(async () => {
    server = new URL(await (await startTestPostgres()).createDatabase());
    const admin = openDatabase(server.href, { max: 1 });
    for (const service of ['reception', 'query']) {
      await admin.query(`CREATE DATABASE ${server.pathname.slice(1)}_${service}`);
      const database = openDatabase(`${server.href}_${service}`, { max: 2 });
      await database.query(`CREATE TABLE dead_letters (consumer_group TEXT, event_id TEXT, topic TEXT, event JSON, reason TEXT,
        attempts INTEGER, failed_at TIMESTAMPTZ(3) DEFAULT clock_timestamp(), replay BOOLEAN DEFAULT false,
        PRIMARY KEY (consumer_group, event_id))`);
      databases[service] = database;
    }
    await admin.close();
  });
  afterAll(() => Promise.all(Object.values(databases).map((database) => database.close())));

  /** Each of the first two events is a dead letter of reception, the third one of query. */
  beforeEach(async () => {
    for (const [index, event] of events.entries()) {
      const group = index < 2 ? 'reception' : 'query';
      const database = databases[group] as Database;
      if (index !== 1) await database.query('TRUNCATE dead_letters');
      const deadLetters = createDeadLetters(database, { logger: silentLogger, metrics: createMetrics() });
      await deadLetters.add({ group, event, reason: 'Error: a constraint', attempts: 2 });
      deadLetters.close();
    }
  });

  it('lists the dead letters of all services with the reason, filtered, for people and programs', async () => {
    const all = await run('list');
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(rows(all.stdout)).toEqual(
      events.map((event, index) => ({
        id: `${event.id}.${index < 2 ? 'reception' : 'query'}`,
        topic,
        group: index < 2 ? 'reception' : 'query',
        key: event.key,
        type: 'approval.changed',
        event_id: event.id,
        event_time: event.time,
        time: expect.any(String),
        attempts: 2,
        reason: 'Error: a constraint',
      })),
    );
    const [one] = rows((await run('list', '--id', events[1].id, '--event')).stdout);
    expect(one).toMatchObject({ event: events[1] });
    const text = (await run('list', '--text', '--group', 'reception')).stdout;
    expect(text).toContain(`${topic}  reception  ${events[0].id}.reception\n    approval.changed of TesteCF:`);
    expect(text).toMatch(/tried 2 times, given up .*\n {4}Error: a constraint\n/);
    expect(text).toMatch(/2 dead letters found\n$/);
    expect((await run('list', '--topic', 'invoices.v1')).stdout).toBe('');
  });

  it('replays the chosen ones, and says which were handled, failed or wait', async () => {
    const waiting = await run('replay', '--id', `${events[0].id}.reception`, '--wait', '0');
    expect(rows(waiting.stdout)).toMatchObject([{ id: `${events[0].id}.reception`, outcome: 'waiting' }]);
    expect(waiting.code).toBe(1);
    // The service handles the first, and the second fails again.
    const deadLetters = createDeadLetters(databases.reception as Database, {
      logger: silentLogger,
      metrics: createMetrics(),
      pollMs: 10,
    });
    const end = deadLetters.onReplay('reception', [topic], async (event) => {
      if (event.id === events[0].id) return true;
      await deadLetters.add({ group: 'reception', event, reason: 'Error: still', attempts: 1 });
      return false;
    });
    const replayed = await run('replay', '--group', 'reception');
    await end();
    deadLetters.close();
    expect(replayed.code).toBe(1);
    expect(rows(replayed.stdout)).toContainEqual({
      id: `${events[1].id}.reception`,
      outcome: 'failed',
      reason: 'Error: still',
    });
    expect(rows((await run('list')).stdout)).toMatchObject([{ event_id: events[2].id }, { event_id: events[1].id }]);
  });

  it('dismisses the chosen ones', async () => {
    const dismissed = await run('dismiss', '--id', events[0].id, '--text');
    expect(dismissed.stdout).toMatch(/^dismissed {2}approvals.v1 {2}reception .*\n1 dead letter dismissed\n$/);
    expect(rows((await run('list')).stdout)).toHaveLength(2);
    expect(rows((await run('dismiss', '--all')).stdout)).toHaveLength(2);
    expect((await run('list', '--text')).stdout).toBe('0 dead letters found\n');
  });

  it('finds the database server of a data folder', async () => {
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'postmaster.pid'), `1\n${folder}\n0\n1\n`);
    writeFileSync(join(folder, 'postgres.password'), 'secret\n');
    const refused = await run('list', '--data-dir', folder);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') });
  });

  it('refuses wrong usage and a server without a deployment, with the remedy', async () => {
    const complaint = async (...args: string[]) => {
      const { code, stderr } = await run(...args);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await complaint('replay')).toContain('replay needs --topic, --group or --id, or --all.');
    expect(await complaint('forget')).toContain('the command is one of list, replay, dismiss.');
    expect(await complaint('replay', '--all', '--wait', 'x')).toContain('--wait is a number of seconds');
    expect(await complaint('list', '--data-dir', '/not/there')).toContain('no deployment runs in the data folder');
    const elsewhere = await ecf(['list'], { DATABASE_URL: `${server.href}x` });
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('check the name in DATABASE_URL') });
  });
});
