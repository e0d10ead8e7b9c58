import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import { createInProcessBus } from '../src/bus.in-process.js';
import type { Bus } from '../src/bus.js';
import { deadLetterOperations } from '../src/dead-letter-operations.js';
import { createDeadLetters, withDeadLetters } from '../src/dead-letters.js';
import { describeUnreadable } from '../src/kafka/kafka-messages.js';
import { createEventTables } from './event-tables.js';
import { describeOnKafka, kafkaSettings, openKafkaBus } from './kafka.js';
import { revisionOf, taxpayerEvent } from './sample-events.js';

const topics = ['taxpayers.v1'];
const group = 'emission';
let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase());
  await createEventTables(database);
});
beforeEach(() => database.query('TRUNCATE dead_letters'));
afterAll(() => database.close());

async function rows() {
  const { rows } = await database.query<{ consumer_group: string; event_id: string; reason: string; replay: boolean }>(
    'SELECT * FROM dead_letters ORDER BY failed_at, event_id',
  );
  return rows;
}

const mark = (events: readonly { id: string }[]) =>
  database.query('UPDATE dead_letters SET replay = true WHERE event_id = ANY ($1)', [events.map(({ id }) => id)]);

describe('dead letters', () => {
  it('are rows in the database of the consumer, one for each event and group, and keep any bytes of a foreign message', async () => {
    const metrics = createMetrics();
    const deadLetters = createDeadLetters(database, { logger: silentLogger, metrics });
    const strange = describeUnreadable('taxpayers.v1', 3, {
      key: Buffer.from([0, 0xff]),
      value: Buffer.from('\0\ud800{'),
      headers: { ce_type: Buffer.from('\0') },
      offset: '7',
    });
    await deadLetters.add({ group, event: strange, reason: 'Error: \0', attempts: 1 });
    await deadLetters.add({ group, event: strange, reason: 'Error: again', attempts: 2 });
    await deadLetters.add({
      group: 'query',
      event: taxpayerEvent('131000001'),
      reason: 'x'.repeat(3_000),
      attempts: 6,
    });
    expect(await rows()).toMatchObject([
      {
        consumer_group: group,
        event_id: 'taxpayers.v1-3-7',
        topic: 'taxpayers.v1',
        reason: 'Error: again',
        attempts: 2,
      },
      { consumer_group: 'query', reason: 'x'.repeat(2_000) },
    ]);
    expect(await metrics.render()).toContain('ecf_dead_letters{topic="taxpayers.v1",group="emission"} 1');
    await database.query('TRUNCATE dead_letters');
    expect(await metrics.render()).toContain('ecf_dead_letters{topic="taxpayers.v1",group="emission"} 0');
    deadLetters.close();
  });

  it('are listed, marked for a replay and deleted for the administration, each by its group and event', async () => {
    const deadLetters = createDeadLetters(database, { logger: silentLogger, metrics: createMetrics() });
    const operations = deadLetterOperations(database);
    const event = taxpayerEvent('131000001');
    for (const each of [group, 'query']) await deadLetters.add({ group: each, event, reason: 'Error', attempts: 6 });
    deadLetters.close();
    const one = { group: 'query', event_id: event.id };
    expect(await operations.replayDeadLetter(one)).toMatchObject({ group: 'query', replaying: true });
    expect((await operations.listDeadLetters({ limit: 10 })).dead_letters).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...one, topic: event.topic, type: event.type, key: event.key, replaying: true }),
        expect.objectContaining({ group, event_id: event.id, reason: 'Error', attempts: 6, replaying: false }),
      ]),
    );
    await operations.dismissDeadLetter(one);
    expect((await rows()).map(({ consumer_group }) => consumer_group)).toEqual([group]);
    await expect(operations.dismissDeadLetter(one)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});

function describeReplays(name: string, open: () => Bus): void {
  describe(`a replay, ${name}`, () => {
    let bus: Bus;
    let close = () => {};
    beforeEach(() => {
      const deadLetters = createDeadLetters(database, { logger: silentLogger, metrics: createMetrics(), pollMs: 10 });
      bus = withDeadLetters(open(), deadLetters);
      close = deadLetters.close;
    });
    afterEach(async () => {
      await bus.close();
      close();
    });

    it('gives the marked events to the group that failed, oldest first, and to no other', async () => {
      let broken = true;
      const handled: number[] = [];
      let others = 0;
      await bus.subscribe({
        topics,
        group,
        handler: async (event) => {
          if (broken) throw new Error('not yet repaired');
          handled.push(revisionOf(event));
        },
      });
      await bus.subscribe({
        topics,
        group: 'query',
        handler: async () => {
          others += 1;
        },
      });
      const events = [1, 2, 3].map((revision) => taxpayerEvent('131000001', revision));
      await bus.publish(events);
      await until(async () => (await rows()).length === 3 && others === 3);
      expect(await rows()).toMatchObject([{ consumer_group: group, reason: 'Error: not yet repaired' }, {}, {}]);
      // It fails again, so it is a dead letter again.
      await mark([events[2] as { id: string }]);
      await until(async () => (await rows()).every(({ replay }) => !replay));
      expect(await rows()).toHaveLength(3);
      broken = false;
      await mark(events.slice(1));
      await until(async () => (await rows()).length === 1);
      expect(handled).toEqual([2, 3]);
      expect((await rows())[0]?.event_id).toBe(events[0]?.id);
      expect(others).toBe(3);
    });
  });
}

const retry = { attempts: 2, firstDelayMs: 1 };
describeReplays('in one process', () => createInProcessBus({ logger: silentLogger, retry }));
describeOnKafka('over a real broker', () => {
  describeReplays('over Kafka', () => openKafkaBus(kafkaSettings(), { retry }));
});
