import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import {
  type Bus,
  type BusEvent,
  createInProcessBus,
  type KafkaSettings,
  makeEvent,
  readBusSettings,
} from '@ecf/service-kit/bus';
import { createKafkaBus } from '@ecf/service-kit/bus/kafka';
import { openFileDeadLetters } from '@ecf/service-kit/dead-letters';
import { readServiceKeys } from '@ecf/service-kit/security';
import { kafka } from '@ecf/test-servers/kafka';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { run as runHere } from '../src/run.js';
import { type Ran, rows } from './ecf.js';

// A broker that starts beside other tests needs some time.

const server = await kafka();
const clock = () => new Date();
const topic = 'approvals.v1';
const retry = { attempts: 2, firstDelayMs: 1 };

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
  return makeEvent({ ...draft, data }, { id: randomUUID(), time: clock() });
}

/** Runs the command in this process: a process for each would take longer than the rest of the test. */
async function ecf(args: string[], env: Record<string, string> = {}): Promise<Ran> {
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

/** Two consumers; one fails until it is repaired. */
async function subscribe(bus: Bus) {
  const state = { broken: true, handled: [] as string[], others: 0 };
  const topics = [topic];
  await bus.subscribe({
    topics,
    group: 'reception',
    async handler(event) {
      if (state.broken) throw new Error('an internal mistake');
      state.handled.push(event.subject);
    },
  });
  await bus.subscribe({
    topics,
    group: 'query',
    async handler() {
      state.others += 1;
    },
  });
  return state;
}

async function until(probe: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await probe())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('ecf dlq of a standalone deployment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ecf-dlq-'));
  const run = (...args: string[]) => ecf([...args, '--data-dir', folder], { KAFKA_BROKERS: '' });
  let bus: Bus;
  beforeEach(() => {
    const deadLetters = openFileDeadLetters(join(folder, 'dead-letters'));
    bus = createInProcessBus({ logger: silentLogger, deadLetters, clock, retry, replayLookMs: 20 });
  });
  afterEach(async () => {
    await bus.close();
    rmSync(join(folder, 'dead-letters'), { recursive: true, force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('lists them with the reason, filtered, for people and programs', async () => {
    await subscribe(bus);
    const events = [decision('E310000000001'), decision('E310000000002')];
    for (const event of events) await bus.publish([event]);
    const all = await run('list');
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(rows(all.stdout)).toEqual(
      events.map((event) => ({
        id: `${event.id}.reception`,
        topic,
        group: 'reception',
        key: event.key,
        type: 'approval.changed',
        event_id: event.id,
        event_time: event.time,
        time: expect.any(String),
        attempts: 2,
        reason: 'Error: an internal mistake',
      })),
    );
    const [one] = rows((await run('list', '--id', events[1]?.id as string, '--event')).stdout);
    expect(one).toMatchObject({ event: events[1] });
    const text = await run('list', '--text', '--group', 'reception');
    expect(text.stdout).toContain(`${topic}  reception  ${events[0]?.id}.reception\n    approval.changed of TesteCF:`);
    expect(text.stdout).toMatch(/tried 2 times, given up .*\n {4}Error: an internal mistake\n/);
    expect(text.stdout).toMatch(/\n2 dead-letter messages in .*\n$/);
    for (const filter of [
      ['--group', 'query'],
      ['--topic', 'invoices.v1'],
      ['--id', 'x'],
    ])
      expect(await run('list', ...filter)).toMatchObject({ code: 0, stdout: '' });
  });

  it('replays to the failed consumer alone, and prints the result', async () => {
    const state = await subscribe(bus);
    for (const encf of ['E310000000001', 'E310000000002']) await bus.publish([decision(encf)]);
    const again = await run('replay', '--group', 'reception');
    expect(again.code).toBe(1);
    expect(rows(again.stdout)).toMatchObject([
      { outcome: 'failed', reason: 'Error: an internal mistake' },
      { outcome: 'failed' },
    ]);
    state.broken = false;
    const good = await run('replay', '--all', '--text');
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(good.stdout).toMatch(/^handled {4}approvals.v1 {2}reception/);
    expect(good.stdout).toContain('2 messages replayed\n');
    expect(state).toMatchObject({ handled: ['E310000000001', 'E310000000002'], others: 2 });
    expect((await run('list')).stdout).toBe('');
  });

  it('reports a replay that no process handles, and dismisses', async () => {
    await subscribe(bus);
    for (const encf of ['E310000000001', 'E310000000002']) await bus.publish([decision(encf)]);
    await bus.close();
    const [first, second] = rows((await run('list')).stdout);
    const waiting = await run('replay', '--id', first?.id as string, '--wait', '0');
    expect(waiting.code).toBe(1);
    expect(rows(waiting.stdout)).toEqual([
      { id: first?.id, outcome: 'waiting', reason: expect.stringContaining('no process') },
    ]);
    expect(rows((await run('dismiss', '--all')).stdout)).toEqual([{ id: second?.id, outcome: 'dismissed' }]);
    expect((await run('list')).stdout).toBe('');
  });

  it('refuses wrong arguments', async () => {
    const cases: [string[], string][] = [
      [[], 'the command is one of list, replay, dismiss'],
      [['list', 'more'], 'the command is one of'],
      [['replay'], 'replay needs --topic, --group or --id, or --all'],
      [['replay', '--all', '--wait', 'x'], '--wait is a number'],
      [['list', '--json', '--text'], 'exclude each other'],
    ];
    for (const [args, says] of cases)
      expect(await run(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
    expect(await ecf(['list', '--data-dir', '/not/there'])).toMatchObject({ code: 2 });
    const away = await ecf(['list'], { KAFKA_BROKERS: 'nonsense' });
    expect(away).toMatchObject({ code: 2, stderr: expect.stringContaining('KAFKA_BROKERS is not allowed') });
  });
});

(server === null ? describe.skip : describe)('ecf dlq over Kafka', () => {
  const env = { KAFKA_BROKERS: server?.brokers ?? '', KAFKA_TOPIC_PREFIX: `t${randomUUID().slice(0, 8)}.` };
  const run = (...args: string[]) => ecf(args, env);

  it('lists, replays to the consumer that failed alone, and dismisses', async () => {
    const settings = readBusSettings(env) as KafkaSettings;
    const keys = readServiceKeys('approvals', TEST_SERVICE_KEYS.approvals);
    const bus = createKafkaBus({ settings, keys, logger: silentLogger, clock, retry });
    expect(await run('list')).toMatchObject({ code: 0, stdout: '' });
    const state = await subscribe(bus);
    await bus.publish(['E310000000001', 'E310000000002', 'E310000000003'].map(decision));
    let deadLetters: Record<string, unknown>[] = [];
    await until(async () => {
      deadLetters = rows((await run('list', '--topic', topic)).stdout);
      return deadLetters.length === 3;
    });
    expect(deadLetters).toContainEqual(
      expect.objectContaining({ group: 'reception', reason: 'Error: an internal mistake' }),
    );
    const dismissed = await run('dismiss', '--id', deadLetters[0]?.id as string);
    expect(rows(dismissed.stdout)).toEqual([{ id: deadLetters[0]?.id, outcome: 'dismissed' }]);
    state.broken = false;
    const replayed = await run('replay', '--group', 'reception', '--text');
    expect([replayed.code, replayed.stderr]).toEqual([0, '']);
    expect(replayed.stdout).toMatch(/^sent {7}approvals.v1 {2}reception/);
    await until(() => state.handled.length === 2);
    expect(state.others).toBe(3);
    expect((await run('list')).stdout).toBe('');
    await bus.close();
  });
});

it('ecf dlq reports that the brokers cannot be reached', async () => {
  const away = await ecf(['list'], { KAFKA_BROKERS: '127.0.0.1:1' });
  expect(away).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('cannot be reached') });
});
