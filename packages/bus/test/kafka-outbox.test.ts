import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import type { Bus, BusEvent } from '../src/bus.js';
import { once } from '../src/outbox/inbox.js';
import { appendToOutbox } from '../src/outbox/outbox.js';
import { createOutboxRelay, type OutboxRelay } from '../src/outbox/outbox-relay.js';
import { createEventTables } from './event-tables.js';
import { closeKafkaBuses, describeOnKafka, kafkaSettings, openKafkaBus } from './kafka.js';
import { revisionOf, rncs, taxpayerEvent } from './sample-events.js';

const topics = ['taxpayers.v1'];
/** Rows of the first version of the schema. */
const FIRST_VERSION = fileURLToPath(
  new URL('../../contracts/test/first-version/taxpayer.changed.json', import.meta.url),
);

describeOnKafka('outbox, Kafka and inbox together', () => {
  let url: string;
  let database: Database;
  const relays: OutboxRelay[] = [];
  const databases: Database[] = [];

  beforeAll(async () => {
    url = await (await startTestPostgres()).createDatabase();
    database = openDatabase(url);
    await createEventTables(database);
    await database.query('CREATE TABLE effects (position bigserial, rnc text, revision int)');
  });
  beforeEach(() => database.query('TRUNCATE outbox, inbox, effects'));
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await closeKafkaBuses();
    await Promise.all(databases.splice(0).map((each) => each.close()));
  });
  afterAll(() => database.close());

  /** A relay like that of another instance, with its own connections and producer. */
  function startRelay(bus: Bus, metrics = createMetrics(), pollMs = 50): Database {
    const own = openDatabase(url);
    databases.push(own);
    const parts = { service: 'test', logger: silentLogger, metrics, clock: () => new Date() };
    const relay = createOutboxRelay({ database: own, bus, ...parts, pollMs, batchSize: 20 });
    relays.push(relay);
    relay.start();
    return own;
  }

  function append(on: Database, events: readonly BusEvent[]): Promise<void> {
    return on.transaction((tx) => appendToOutbox(tx, events));
  }

  async function waiting(): Promise<number> {
    return (await database.query<{ n: number }>('SELECT count(*) AS n FROM outbox')).rows[0]?.n ?? -1;
  }

  /** The effect and the record of the event's id in one transaction. */
  function effect(event: BusEvent): Promise<void> {
    return database.transaction(async (tx) => {
      if (!(await once(tx, 'g', event.id))) return;
      await tx.query('INSERT INTO effects (rnc, revision) VALUES ($1, $2)', [event.key, revisionOf(event)]);
    });
  }

  async function effects(): Promise<Map<string, number[]>> {
    const { rows } = await database.query<{ rnc: string; revisions: number[] }>(
      'SELECT rnc, array_agg(revision ORDER BY position) AS revisions FROM effects GROUP BY rnc',
    );
    return new Map(rows.map(({ rnc, revisions }) => [rnc, revisions]));
  }

  it('publish in order per key with several instances, one of which stops', async () => {
    const settings = kafkaSettings();
    const seen = new Map<string, number[]>();
    const handled = new Set<string>();
    await openKafkaBus(settings).subscribe({
      topics,
      group: 'g',
      handler: async (event) => {
        if (handled.has(event.id)) return;
        handled.add(event.id);
        seen.set(event.key, [...(seen.get(event.key) ?? []), revisionOf(event)]);
      },
    });
    const instances = [1, 2, 3].map(() => startRelay(openKafkaBus(settings)));
    const keys = rncs(40);
    for (let revision = 1; revision <= 30; revision += 1) {
      await append(
        instances[revision % 3] as Database,
        keys.map((rnc) => taxpayerEvent(rnc, revision)),
      );
      if (revision === 15) await relays[0]?.stop();
    }
    await until(async () => handled.size === 1_200 && (await waiting()) === 0);
    const expected = Array.from({ length: 30 }, (_, i) => i + 1);
    for (const key of keys) expect(seen.get(key)).toEqual(expected);
  });

  it('have each effect once, although events arrive twice and a consumer fails after its effect', async () => {
    const settings = kafkaSettings();
    const bus = openKafkaBus(settings);
    let calls = 0;
    let done = 0;
    const failed = new Set<string>();
    await bus.subscribe({
      topics,
      group: 'g',
      handler: async (event) => {
        await effect(event);
        calls += 1;
        if (calls % 3 === 0 && !failed.has(event.id)) {
          failed.add(event.id);
          throw new Error('crashed after the commit');
        }
        done += 1;
      },
    });
    const keys = rncs(20);
    const events = [1, 2].flatMap((revision) => keys.map((rnc) => taxpayerEvent(rnc, revision)));
    const own = startRelay(bus);
    await append(own, events);
    await append(own, events);
    await until(async () => done >= 80 && (await waiting()) === 0);
    const present = await effects();
    for (const key of keys) expect(present.get(key)).toEqual([1, 2]);
  });

  it('set aside the rows that brokers refuse for their size, for the operator, and publish the rows after them', async () => {
    const settings = kafkaSettings();
    const metrics = createMetrics();
    const bus = openKafkaBus(settings);
    const seen: string[] = [];
    await bus.subscribe({ topics, group: 'g', handler: async (event) => void seen.push(event.id) });
    const events = rncs(4).map((rnc) => taxpayerEvent(rnc));
    const [first, second, , last] = events as [BusEvent, BusEvent, BusEvent, BusEvent];
    // Inserted without the check of the size: brokers may accept less than it allows.
    const large = { ...second, data: { ...(second.data as object), name: 'x'.repeat(1_100_000) } };
    await append(database, [first]);
    await database.query('INSERT INTO outbox (event_id, topic, key, event) VALUES ($1, $2, $3, $4)', [
      large.id,
      large.topic,
      large.key,
      JSON.stringify(large),
    ]);
    await append(database, events.slice(2));
    startRelay(bus, metrics);
    await until(() => seen.includes(last.id) && seen.length >= 3);
    expect(new Set(seen)).toEqual(new Set([first.id, ...events.slice(2).map(({ id }) => id)]));
    await until(async () => (await metrics.render()).includes('ecf_outbox_pending{service="test"} 0'));
    const text = await metrics.render();
    expect(text).toContain('ecf_outbox_refused{service="test"} 1');
    expect(text).toContain('ecf_outbox_lag_seconds{service="test"} 0');
    const { rows } = await database.query('SELECT event_id FROM outbox');
    expect(rows).toEqual([{ event_id: large.id }]);
    // The operator requeues it once the brokers accept it.
    await database.query("UPDATE outbox SET event = jsonb_set(event::jsonb, '{data,name}', '\"short\"')::json");
    await database.query('UPDATE outbox SET refused = false');
    await until(() => seen.includes(large.id));
  });

  it('bring an event to its consumer without waiting for the next poll of the outbox', async () => {
    const settings = kafkaSettings();
    const arrived = new Set<string>();
    const bus = openKafkaBus(settings);
    await bus.subscribe({
      topics,
      group: 'g',
      handler: async (event) => void arrived.add(event.id),
    });
    const own = startRelay(bus, createMetrics(), 3_600_000);
    for (const rnc of rncs(3)) {
      const event = taxpayerEvent(rnc);
      await append(own, [event]);
      await until(() => arrived.has(event.id));
    }
  });

  it('read rows of the first and of later versions, and set aside invalid rows', async () => {
    const settings = kafkaSettings();
    const deadLetters = memoryDeadLetters();
    const bus = openKafkaBus(settings);
    const seen: BusEvent[] = [];
    await bus.subscribe({ topics, group: 'g', handler: async (event) => void seen.push(event), deadLetters });
    const first = { ...taxpayerEvent('131000001'), data: JSON.parse(readFileSync(FIRST_VERSION, 'utf8')) };
    const { name: _, ...incomplete } = first.data;
    const broken = { ...taxpayerEvent('131000001'), data: incomplete };
    const newer = taxpayerEvent('131000001', 2);
    await bus.publish([first, broken, { ...newer, data: { ...(newer.data as object), from_the_future: [1] } }]);
    await until(() => seen.length === 2 && deadLetters.kept.length === 1);
    expect(seen.map((event) => event.data)).toEqual([first.data, newer.data]);
    expect(deadLetters.kept).toMatchObject([
      { reason: expect.stringContaining('taxpayer.changed: name'), event: { id: broken.id, data: incomplete } },
    ]);
  });
});
