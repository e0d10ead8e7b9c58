// The bus over a real broker, against kafkajs alone with the same settings: publish; append to the outbox and relay; consume.
//
// BUS_EVENTS (3000) a round in batches of BUS_BATCH (200), BUS_ROUNDS (5); BENCH_SECONDS (180) ends it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type InvoiceChanged, TOPICS } from '@ecf/contracts';
import { type BusEvent, type KafkaSettings, makeEvent, readBusSettings } from '@ecf/service-kit/bus';
import { createKafkaBus } from '@ecf/service-kit/bus/kafka';
import { appendToOutbox, createOutboxRelay } from '@ecf/service-kit/outbox';
import { type Database, openDatabase } from '@ecf/service-kit/postgres';
import { readServiceKeys } from '@ecf/service-kit/security';
import { createLogger, createMetrics } from '@ecf/service-kit/telemetry';
import { kafka } from '@ecf/test-servers/kafka';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import kafkajs from 'kafkajs';
import { endAfter } from './harness/ending.js';
import { compare, median, percentile, seconds } from './harness/measure.js';
import { heading, line, reportComparison } from './harness/report.js';

const BATCH = Number(process.env.BUS_BATCH ?? 200);
const COUNT = Number(process.env.BUS_EVENTS ?? 3_000);
const ROUNDS = Number(process.env.BUS_ROUNDS ?? 5);
const topic = TOPICS.invoices.name;
const group = 'bench';
const clock = () => new Date();
const SAMPLE = fileURLToPath(
  new URL('../../packages/contracts/test/first-version/invoice.changed.json', import.meta.url),
);

endAfter(Number(process.env.BENCH_SECONDS ?? 180));
const server = await kafka();
if (server === null) process.exit(1);
const settings = readBusSettings({
  KAFKA_BROKERS: server.brokers,
  KAFKA_TOPIC_PREFIX: `bench${randomUUID().slice(0, 8)}.`,
}) as KafkaSettings;
const BARE = `${settings.KAFKA_TOPIC_PREFIX}bare`;
const logger = createLogger({ service: 'bench', level: 'silent' });
const keys = readServiceKeys('emission', TEST_SERVICE_KEYS.emission);
const bus = createKafkaBus({ settings, keys, logger, clock });
const sample = JSON.parse(readFileSync(SAMPLE, 'utf8')) as InvoiceChanged;
let next = 0;

function events(count: number): BusEvent[] {
  return Array.from({ length: count }, () => {
    next += 1;
    const encf = `E31${String(next).padStart(10, '0')}`;
    const key = `TesteCF:131000001:${encf}`;
    const draft = { topic, type: 'invoice.changed', source: 'emission', subject: encf, key, data: { ...sample, encf } };
    return makeEvent(draft, { id: randomUUID(), time: clock() });
  });
}

/** The reference: kafkajs alone with the settings of the bus. */
const bare = new kafkajs.Kafka({ brokers: settings.KAFKA_BROKERS, logLevel: kafkajs.logLevel.NOTHING });
const producer = bare.producer({ maxInFlightRequests: 1 });

async function sendBare(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += BATCH) {
    const messages = events(BATCH).map((event) => ({ key: event.key, value: JSON.stringify(event.data) }));
    await producer.send({ topic: BARE, acks: -1, messages });
  }
}

async function publish(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += BATCH) await bus.publish(events(BATCH));
}

async function createTables(database: Database): Promise<void> {
  await database.query(`
    CREATE TABLE outbox (position BIGSERIAL PRIMARY KEY, partition SMALLINT NOT NULL, event_id UUID NOT NULL, topic TEXT NOT NULL,
      key TEXT NOT NULL, event JSON NOT NULL, created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP);
    CREATE INDEX ON outbox (partition, position)`);
}

const admin = bare.admin();
await admin.connect();
await admin.createTopics({
  topics: [{ topic: BARE, numPartitions: TOPICS.invoices.partitions, replicationFactor: -1 }],
});
await admin.disconnect();
await bus.publish(events(1));
await producer.connect();
heading(`Bus over Kafka (${server.source}), events of ${JSON.stringify(sample).length} bytes, batches of ${BATCH}`);
reportComparison('publish', 'kafkajs alone', await compare(publish, sendBare, COUNT, ROUNDS));

const database = openDatabase(await (await startTestPostgres()).createDatabase());
await createTables(database);
const relay = createOutboxRelay({ database, bus, service: 'bench', logger, metrics: createMetrics(), clock });

/** Events are appended before; the bench measures the relay: read, publish, delete. */
async function relayAll(count: number): Promise<void> {
  for (let appended = 0; appended < count; appended += BATCH)
    await database.transaction((tx) => appendToOutbox(tx, events(BATCH)));
  await relay.drained();
}

relay.start();
await relay.drained();
reportComparison('append and relay', 'kafkajs alone', await compare(relayAll, sendBare, COUNT, ROUNDS));

const arrivals = new Map<string, (at: number) => void>();
const published = 1 + 2 * (ROUNDS + 1) * COUNT;
const taken = await seconds(async () => {
  let allHandled = () => {};
  const done = new Promise<void>((resolve) => {
    allHandled = resolve;
  });
  const ids = new Set<string>();
  await bus.subscribe({
    topics: [topic],
    group,
    async handler(event) {
      arrivals.get(event.id)?.(performance.now());
      ids.add(event.id);
      if (ids.size === published) allHandled();
    },
  });
  await done;
}, 1);
line(`consume: ${Math.round(published / taken)} events/s by a handler that does nothing, group start included`);

const delays: number[] = [];
for (const event of events(100)) {
  const began = performance.now();
  const arrived = new Promise<number>((resolve) => arrivals.set(event.id, resolve));
  await database.transaction((tx) => appendToOutbox(tx, [event]));
  delays.push((await arrived) - began);
}
line(
  `append to handler: median ${median(delays).toFixed(0)} ms, 99 of 100 within ${percentile(delays, 0.99).toFixed(0)} ms`,
);
await relay.stop();
await bus.close();
await producer.disconnect();
await database.close();
process.exit(0);
