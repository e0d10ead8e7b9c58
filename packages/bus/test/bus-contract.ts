import { markDatabaseError } from '@ecf/postgres';
import { memoryDeadLetters } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus, BusEvent, DeadLetter } from '../src/bus.js';
import { withDeadLetters } from '../src/dead-letters.js';
import { revisionOf, rncs, taxpayerEvent } from './sample-events.js';

/** The error of a statement while the database is down. */
function unreachable(): Error {
  const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  markDatabaseError(error);
  return error;
}

/** The contract of every adapter of the bus. In this suite adapters make three attempts with short pauses. */
export function describeBus(name: string, open: () => Bus): void {
  describe(name, () => {
    let bus: Bus;
    let dead: readonly DeadLetter[];
    beforeEach(() => {
      const deadLetters = memoryDeadLetters();
      dead = deadLetters.kept;
      bus = withDeadLetters(open(), deadLetters);
    });
    afterEach(() => bus.close());

    const topics = ['taxpayers.v1'];
    function collect(into: BusEvent[]) {
      return async (event: BusEvent) => {
        into.push(event);
      };
    }

    it('gives every group every event, and each to one member of the group', async () => {
      const [first, second, other]: BusEvent[][] = [[], [], []];
      await bus.subscribe({ topics, group: 'emission', handler: collect(first as BusEvent[]) });
      await bus.subscribe({ topics, group: 'emission', handler: collect(second as BusEvent[]) });
      await bus.subscribe({ topics, group: 'query', handler: collect(other as BusEvent[]) });
      const sent = rncs(40).map((rnc) => taxpayerEvent(rnc));
      await bus.publish(sent);
      await until(() => other?.length === 40 && (first?.length ?? 0) + (second?.length ?? 0) === 40);
      expect(new Set([...(first ?? []), ...(second ?? [])].map((e) => e.id)).size).toBe(40);
      expect(first?.length).toBeGreaterThan(0);
      expect(second?.length).toBeGreaterThan(0);
    });

    it('gives a batch handler all events, each key in its order', async () => {
      const batches: BusEvent[][] = [];
      const batchHandler = async (events: readonly BusEvent[]) => void batches.push([...events]);
      const alone: BusEvent[] = [];
      await bus.subscribe({ topics, group: 'query', handler: collect(alone), batchHandler });
      const numbers = rncs(5);
      const sent = [1, 2, 3].flatMap((revision) => numbers.map((rnc) => taxpayerEvent(rnc, revision)));
      await bus.publish(sent);
      const handled = () => [...batches.flat(), ...alone];
      await until(() => handled().length >= sent.length);
      expect(handled()).toHaveLength(sent.length);
      expect(Math.max(...batches.map(({ length }) => length))).toBeGreaterThan(1);
      for (const rnc of numbers)
        expect(
          handled()
            .filter(({ key }) => key === rnc)
            .map(revisionOf),
        ).toEqual([1, 2, 3]);
    });

    it('gives a batch handler the events of several keys in one call', async () => {
      const calls: BusEvent[][] = [];
      const batchHandler = async (events: readonly BusEvent[]) => void calls.push([...events]);
      await bus.subscribe({ topics, group: 'query', handler: (event) => batchHandler([event]), batchHandler });
      const sent = rncs(48).map((rnc) => taxpayerEvent(rnc));
      await bus.publish(sent);
      await until(() => calls.flat().length >= sent.length);
      // The topic has 4 partitions, so a call for each of them would bring about 12 keys.
      expect(Math.max(...calls.map((events) => new Set(events.map(({ key }) => key)).size))).toBeGreaterThan(24);
    });

    it('gives each event to the handler after the batch handler failed', async () => {
      const received: BusEvent[] = [];
      const [bad = ''] = rncs(1);
      const sent = rncs(6).map((rnc) => taxpayerEvent(rnc));
      await bus.subscribe({
        topics,
        group: 'query',
        async handler(event) {
          if (event.key === bad) throw new Error('cannot be handled');
          received.push(event);
        },
        async batchHandler(events) {
          if (events.some(({ key }) => key === bad)) throw new Error('cannot be handled together');
          received.push(...events);
        },
      });
      await bus.publish(sent);
      await until(() => received.length === sent.length - 1 && dead.length === 1);
      expect(new Set(received.map(({ id }) => id)).size).toBe(sent.length - 1);
      expect(dead[0]?.event.key).toBe(bad);
    });

    it('delivers only subscribed topics', async () => {
      const seen: BusEvent[] = [];
      await bus.subscribe({ topics: ['invoices.v1'], group: 'poller', handler: collect(seen) });
      await bus.publish([taxpayerEvent('131000001')]);
      expect(seen).toEqual([]);
    });

    it('keeps the order of each key, over batches and slow handlers', async () => {
      const seen = new Map<string, number[]>();
      await bus.subscribe({
        topics,
        group: 'emission',
        handler: async (event) => {
          await new Promise((resolve) => setTimeout(resolve, revisionOf(event) % 3));
          seen.set(event.key, [...(seen.get(event.key) ?? []), revisionOf(event)]);
        },
      });
      const keys = rncs(5);
      const batches = [1, 2, 3, 4, 5, 6].map((revision) => keys.map((rnc) => taxpayerEvent(rnc, revision)));
      await bus.publish(batches.slice(0, 3).flat());
      await bus.publish(batches.slice(3).flat());
      await until(() => keys.every((key) => seen.get(key)?.length === 6));
      for (const key of keys) expect(seen.get(key)).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it('tries a failing handler again', async () => {
      let attempts = 0;
      await bus.subscribe({
        topics,
        group: 'emission',
        handler: async () => {
          attempts += 1;
          if (attempts < 3) throw new Error('not yet');
        },
      });
      await bus.publish([taxpayerEvent('131000001')]);
      await until(() => attempts === 3);
      expect(dead).toEqual([]);
    });

    it('keeps an event as a dead letter with the reason after the last attempt, and continues with the key', async () => {
      const handled: number[] = [];
      await bus.subscribe({
        topics,
        group: 'emission',
        handler: async (event) => {
          if (revisionOf(event) === 1) throw new Error('cannot be understood');
          handled.push(revisionOf(event));
        },
      });
      const poison = taxpayerEvent('131000001', 1);
      await bus.publish([poison, taxpayerEvent('131000001', 2)]);
      await until(() => handled.length === 1);
      expect(dead).toMatchObject([
        { group: 'emission', attempts: 3, reason: 'Error: cannot be understood', event: { id: poison.id } },
      ]);
    });

    it('does not deliver an event that its schema refuses', async () => {
      const handled: string[] = [];
      await bus.subscribe({
        topics,
        group: 'emission',
        handler: async (event) => {
          handled.push(event.id);
        },
      });
      const malformed = { ...taxpayerEvent('131000001'), data: { rnc: 'x' } };
      const unknown = { ...taxpayerEvent('131000002'), type: 'taxpayer.vanished' };
      const good = taxpayerEvent('131000001', 2);
      await bus.publish([malformed, unknown, good]);
      await until(() => handled.length === 1 && dead.length === 2);
      expect(handled).toEqual([good.id]);
    });

    it('reads an event of a later version of the schema, and drops the fields that are unknown', async () => {
      const seen: BusEvent[] = [];
      await bus.subscribe({ topics, group: 'emission', handler: collect(seen) });
      const event = taxpayerEvent('131000001');
      await bus.publish([{ ...event, data: { ...(event.data as object), from_the_future: 1 } }]);
      await until(() => seen.length === 1);
      expect(seen[0]?.data).toEqual(event.data);
    });

    it('never gives up an event because the database of its consumer is down', async () => {
      let gone = true;
      const handled: string[] = [];
      await bus.subscribe({
        topics,
        group: 'emission',
        handler: async (event) => {
          if (gone) throw unreachable();
          handled.push(event.id);
        },
      });
      const event = taxpayerEvent('131000001');
      // An adapter that stores the event resolves and delivers later. One that does not rejects, and the outbox publishes
      // again.
      const kept = await bus.publish([event]).then(
        () => true,
        () => false,
      );
      gone = false;
      if (!kept) await bus.publish([event]);
      await until(() => handled.length > 0);
      expect(new Set(handled)).toEqual(new Set([event.id]));
      expect(dead).toEqual([]);
    });

    it('waits for events being handled when a subscription stops', async () => {
      let finished = false;
      let begun = () => {};
      const started = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const subscription = await bus.subscribe({
        topics,
        group: 'emission',
        handler: async () => {
          begun();
          await new Promise((resolve) => setTimeout(resolve, 50));
          finished = true;
        },
      });
      const published = bus.publish([taxpayerEvent('131000001')]).catch(() => undefined);
      await started;
      await subscription.stop();
      expect(finished).toBe(true);
      await published;
    });
  });
}
