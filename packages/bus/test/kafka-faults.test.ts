import { randomUUID } from 'node:crypto';
import { createMetrics } from '@ecf/kit/telemetry';
import { kafka } from '@ecf/test-servers/kafka';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { Bus, BusEvent } from '../src/bus.js';
import { kafkaClients } from '../src/kafka/kafka-client.js';
import { toRecord } from '../src/kafka/kafka-messages.js';
import { closeKafkaBuses, describeOnKafka, kafkaSettings, openKafkaBus } from './kafka.js';
import { revisionOf, rncs, taxpayerEvent } from './sample-events.js';

const topic = 'taxpayers.v1';
const topics = [topic];

afterEach(closeKafkaBuses);

/** Collects revisions by key; repeats are left out, as an inbox does. */
function collector() {
  const seen = new Set<string>();
  const keys = new Map<string, number[]>();
  return {
    keys,
    take(event: BusEvent) {
      if (seen.has(event.id)) return;
      seen.add(event.id);
      keys.set(event.key, [...(keys.get(event.key) ?? []), revisionOf(event)]);
    },
    count: () => seen.size,
  };
}

/** Publishes like an outbox: in order, repeatedly until the bus has the event. */
async function publishSurely(bus: Bus, batch: readonly BusEvent[]): Promise<void> {
  while (
    !(await bus.publish(batch).then(
      () => true,
      () => false,
    ))
  )
    await new Promise((resolve) => setTimeout(resolve, 100));
}

describeOnKafka('a rebalance', () => {
  it('loses nothing and keeps the order of each key while members join and leave', async () => {
    const settings = kafkaSettings();
    const publisher = openKafkaBus(settings);
    const members = [openKafkaBus(settings), openKafkaBus(settings), openKafkaBus(settings)] as const;
    const got = collector();
    const by = new Map<number, number>();
    const join = (index: number) =>
      (members[index] as Bus).subscribe({
        topics,
        group: 'g',
        handler: async (event) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          got.take(event);
          by.set(index, (by.get(index) ?? 0) + 1);
        },
      });
    const keys = rncs(20);
    let revision = 0;
    let publishing = true;
    const stream = (async () => {
      while (publishing) {
        revision += 1;
        const batch = keys.map((rnc) => taxpayerEvent(rnc, revision));
        await publishSurely(publisher, batch);
        await until(() => !publishing || got.count() > (revision - 10) * keys.length);
      }
    })();
    const first = await join(0);
    await until(() => got.count() > 100);
    await join(1);
    await until(() => (by.get(1) ?? 0) > 100);
    await first.stop();
    const third = await join(2);
    await until(() => (by.get(2) ?? 0) > 100);
    await third.stop();
    publishing = false;
    await stream;
    await until(() => got.count() === revision * keys.length);
    const expected = Array.from({ length: revision }, (_, i) => i + 1);
    for (const key of keys) expect(got.keys.get(key)).toEqual(expected);
  });
});

const own = await kafka({ own: true });

afterAll(() => own?.stop());

(own?.secure === undefined ? describe.skip : describe)('a broker behind TLS and a login', () => {
  it('accepts events only with valid credentials', async () => {
    const { port, caFile, username, password } = own?.secure ?? {};
    const login = {
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA_FILE: caFile ?? '',
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: username ?? '',
      KAFKA_SASL_PASSWORD: password ?? '',
    };
    const bus = openKafkaBus(kafkaSettings(login));
    const got = collector();
    await bus.subscribe({ topics, group: 'g', handler: async (event) => got.take(event) });
    await bus.publish([taxpayerEvent('131000001')]);
    await until(() => got.count() === 1);
    const unknown = openKafkaBus(kafkaSettings({ ...login, KAFKA_SASL_PASSWORD: 'wrong' }));
    await expect(unknown.publish([taxpayerEvent('131000001')])).rejects.toThrow(/SASL|credentials|Authentication/i);
    const open = openKafkaBus(kafkaSettings({ ...login, KAFKA_SSL_CA_FILE: '' }));
    await expect(open.publish([taxpayerEvent('131000001')])).rejects.toThrow(/certificate/);
  });
});

(own === null ? describe.skip : describe)('a broker that is killed', () => {
  it('makes publish reject, and after its restart every event arrives in order', async () => {
    const settings = kafkaSettings({ KAFKA_BROKERS: own?.brokers ?? '' });
    const bus = openKafkaBus(settings);
    const got = collector();
    await bus.subscribe({ topics, group: 'g', handler: async (event) => got.take(event) });
    const keys = rncs(10);
    const batch = (revision: number) => keys.map((rnc) => taxpayerEvent(rnc, revision));
    const leaving = openKafkaBus(settings);
    await leaving.subscribe({ topics, group: 'leaving', handler: async () => {} });
    await bus.publish(batch(1));
    await until(() => got.count() === 10);

    const cut = batch(2);
    const publishing = bus.publish(cut).then(
      () => true,
      () => false,
    );
    await own?.control?.kill();
    const kept = await publishing;
    const during = batch(3);
    await expect(bus.publish(during)).rejects.toThrow();
    // A service that stops meanwhile does not wait for the broker.
    await leaving.close();
    // A service that starts meanwhile waits for the broker too.
    const late = openKafkaBus(settings);
    const other = collector();
    const subscribing = late.subscribe({ topics, group: 'other', handler: async (event) => other.take(event) });

    await own?.control?.restart();
    if (!kept) await publishSurely(bus, cut);
    await publishSurely(bus, during);
    await publishSurely(bus, batch(4));
    await subscribing;
    await until(() => got.count() === 40 && other.count() === 40);
    for (const key of keys) {
      expect(got.keys.get(key)).toEqual([1, 2, 3, 4]);
      expect(other.keys.get(key)).toEqual([1, 2, 3, 4]);
    }
  });
});

(own === null ? describe.skip : describe)('a broker that loses its log', () => {
  it('gets its topics again, and every later event arrives', async () => {
    const bus = openKafkaBus(kafkaSettings({ KAFKA_BROKERS: own?.brokers ?? '' }));
    const got = collector();
    await bus.subscribe({ topics, group: 'g', handler: async (event) => got.take(event) });
    const batch = (revision: number) => rncs(10).map((rnc) => taxpayerEvent(rnc, revision));
    await bus.publish(batch(1));
    await until(() => got.count() === 10);
    await own?.control?.kill();
    await own?.control?.restartEmpty();
    await publishSurely(bus, batch(2));
    await until(() => got.count() === 20);
  });
});

describeOnKafka('a slow consumer', () => {
  it('delays neither the other partitions nor the other groups, and is visible as lag', async () => {
    const settings = kafkaSettings();
    const metrics = createMetrics();
    const bus = openKafkaBus(settings, { metrics });
    const [slow, quick] = [collector(), collector()];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const keys = rncs(40);
    const stuck = keys[0] as string;
    await bus.subscribe({
      topics,
      group: 'slow',
      handler: async (event) => {
        if (event.key === stuck) await held;
        slow.take(event);
      },
    });
    await bus.subscribe({ topics, group: 'quick', handler: async (event) => quick.take(event) });
    await bus.publish(keys.map((rnc) => taxpayerEvent(rnc, 1)));
    await until(() => quick.count() === 40);
    // Events in the partition of the stuck event wait for it; the other three partitions continue.
    await until(() => slow.count() > 15);
    const before = slow.count();
    await bus.publish(keys.map((rnc) => taxpayerEvent(rnc, 2)));
    await until(() => slow.count() > before + 15 && quick.count() === 80);
    expect(slow.keys.has(stuck)).toBe(false);
    expect(await metrics.render()).toMatch(/ecf_consumer_lag\{topic="taxpayers.v1",group="slow"\} [1-9]/);
    release();
    await until(() => slow.count() === 80);
    for (const key of keys) expect(slow.keys.get(key)).toEqual([1, 2]);
    await until(async () => {
      const text = await metrics.render();
      return ['slow', 'quick'].every((group) =>
        text.includes(`ecf_consumer_lag{topic="taxpayers.v1",group="${group}"} 0`),
      );
    });
    expect(await metrics.render()).toContain('ecf_consumer_connected{topic="taxpayers.v1",group="quick"} 1');
  });
});

describeOnKafka('a poison message', () => {
  it('becomes a dead letter with the reason, whatever its bytes are, and its partition continues', async () => {
    const settings = kafkaSettings();
    const bus = openKafkaBus(settings);
    const deadLetters = memoryDeadLetters();
    const got = collector();
    await bus.subscribe({
      topics,
      group: 'g',
      deadLetters,
      handler: async (event) => {
        if (revisionOf(event) === 1) throw new Error('cannot be understood');
        got.take(event);
      },
    });
    const poison = taxpayerEvent('131000001', 1);
    await bus.publish([poison]);
    const strange = toRecord(taxpayerEvent('131000001', 2), topic);
    await sendRaw(settings, [
      { ...strange, value: 'not JSON' },
      { ...strange, headers: {} },
      { ...strange, headers: { ...strange.headers, ce_id: randomUUID(), ce_type: 'taxpayer.vanished' } },
      { ...strange, value: '{"rnc":"x"}' },
    ]);
    await bus.publish([taxpayerEvent('131000001', 3)]);
    await until(() => got.count() === 1);
    await until(() => deadLetters.kept.length === 5);
    const reasons = deadLetters.kept.map(({ reason }) => reason).sort();
    expect(reasons).toEqual([
      'Error: cannot be understood',
      'EventError: taxpayers.v1 taxpayer.changed: rnc an RNC has 9 or 11 digits',
      'EventError: the topic taxpayers.v1 has no event taxpayer.vanished',
      'UnreadableMessage: the body is not JSON',
      'UnreadableMessage: the header ce_specversion is missing, not 1.0',
    ]);
    const deadLetter = deadLetters.kept.find(({ event }) => event.id === poison.id);
    expect(deadLetter).toMatchObject({ group: 'g', attempts: 3, event: poison });
  });
});

describeOnKafka('topics', () => {
  it('are created as the contracts declare, and topics that differ are reported', async () => {
    const settings = kafkaSettings();
    const prefix = settings.KAFKA_TOPIC_PREFIX ?? '';
    const admin = (await kafkaClients(settings, silentLogger)()).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: `${prefix}taxpayers.v1`, numPartitions: 1, replicationFactor: 1 }] });
    const warnings: unknown[] = [];
    const logger = Object.assign(Object.create(silentLogger), { warn: (...said: unknown[]) => warnings.push(said) });
    const bus = openKafkaBus(settings, { logger });
    await bus.publish([taxpayerEvent('131000001')]);
    expect(warnings).toEqual([
      [{ topic: `${prefix}taxpayers.v1`, partitions: 1, expected: 4 }, expect.any(String)],
      [
        { topic: `${prefix}taxpayers.v1`, setting: 'cleanup.policy', value: 'delete', expected: 'compact' },
        expect.any(String),
      ],
    ]);
    await bus.subscribe({ topics: ['invoices.v1'], group: 'g', handler: async () => {} });
    const { topics: made } = await admin.fetchTopicMetadata({
      topics: [`${prefix}invoices.v1`],
    });
    expect(made.map(({ partitions }) => partitions.length)).toEqual([12]);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${prefix}invoices.v1`, configNames: ['retention.ms'] },
      ],
    });
    expect(resources[0]?.configEntries[0]?.configValue).toBe(String(7 * 24 * 60 * 60 * 1000));
    const strict = openKafkaBus(kafkaSettings({ KAFKA_CREATE_TOPICS: 'false' }));
    await expect(strict.publish([taxpayerEvent('131000001')])).rejects.toThrow('lack the topics');
    await admin.disconnect();
  });
});

async function sendRaw(settings: ReturnType<typeof kafkaSettings>, messages: kafkajs.Message[]): Promise<void> {
  const producer = (await kafkaClients(settings, silentLogger)()).producer();
  await producer.connect();
  await producer.send({ topic: `${settings.KAFKA_TOPIC_PREFIX}taxpayers.v1`, messages });
  await producer.disconnect();
}
