import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createInProcessBus } from '../src/bus/bus.in-process.js';
import { openFileDeadLetters } from '../src/bus/dead-letters/dead-letters.files.js';
import { createMemoryDeadLetters, type DeadLetter } from '../src/bus/dead-letters/dead-letters.js';
import { createMetrics, type Metrics } from '../src/telemetry/metrics.js';
import { describeBus, until } from './bus-contract.js';
import { rncs, taxpayerEvent } from './sample-events.js';

function open(metrics?: Metrics) {
  const deadLetters = createMemoryDeadLetters();
  const retry = { attempts: 3, firstDelayMs: 1, maxDelayMs: 2, timeoutMs: 200 };
  const bus = createInProcessBus({
    logger: silentLogger,
    deadLetters,
    clock: () => new Date(),
    retry,
    ...(metrics === undefined ? {} : { metrics }),
  });
  return { bus, deadLetters };
}

describeBus('the bus of one process', async () => open());

describe('dead-letter messages of the bus of one process', () => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'ecf-replays-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('are delivered to the failed group alone when another process requests a replay', async () => {
    const metrics = createMetrics();
    const bus = createInProcessBus({
      logger: silentLogger,
      deadLetters: openFileDeadLetters(root),
      clock: () => new Date(),
      retry: { attempts: 1 },
      metrics,
      replayLookMs: 5,
    });
    let broken = true;
    const handled: string[] = [];
    let others = 0;
    const topics = ['taxpayers.v1'];
    await bus.subscribe({
      topics,
      group: 'mended',
      handler: async (event) => {
        if (broken) throw new Error('a mistake of ours');
        handled.push(event.key);
      },
    });
    await bus.subscribe({
      topics,
      group: 'other',
      handler: async () => {
        others += 1;
      },
    });
    await bus.publish(rncs(2).map((rnc) => taxpayerEvent(rnc)));
    const tool = openFileDeadLetters(root);
    const [first, second] = await tool.list();
    expect(await metrics.render()).toContain('ecf_dead_letters{topic="taxpayers.v1",group="mended"} 2');
    await tool.replay(first as DeadLetter);
    expect(await tool.list()).toEqual([second]);
    // The consumer still fails, so the message comes back with its reason.
    await until(async () => (await tool.list()).length === 2 && (await tool.requested()).length === 0);
    broken = false;
    for (const deadLetter of await tool.list()) await tool.replay(deadLetter);
    await until(async () => handled.length === 2 && (await tool.requested()).length === 0);
    expect(await tool.list()).toEqual([]);
    expect(others).toBe(2);
    expect(await metrics.render()).toContain('ecf_dead_letters{topic="taxpayers.v1",group="mended"} 0');
    await bus.close();
  });

  it('wait for the process that has their group', async () => {
    const tool = openFileDeadLetters(root);
    const event = taxpayerEvent('131000001');
    await tool.add({ id: `${event.id}.absent`, group: 'absent', reason: 'no', attempts: 1, time: event.time, event });
    for (const deadLetter of await tool.list()) await tool.replay(deadLetter);
    const bus = createInProcessBus({
      logger: silentLogger,
      deadLetters: tool,
      clock: () => new Date(),
      replayLookMs: 1,
    });
    const seen: string[] = [];
    await bus.subscribe({ topics: ['taxpayers.v1'], group: 'other', handler: async ({ id }) => void seen.push(id) });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toEqual([]);
    expect(await tool.requested()).toHaveLength(1);
    await bus.close();
  });
});

describe('the bus of one process, further', () => {
  it('has everything handled when publish resolves', async () => {
    const { bus } = open();
    let handled = 0;
    await bus.subscribe({
      topics: ['taxpayers.v1'],
      group: 'g',
      handler: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        handled += 1;
      },
    });
    await bus.publish([taxpayerEvent('131000001', 1), taxpayerEvent('131000001', 2), taxpayerEvent('131000002')]);
    expect(handled).toBe(3);
  });

  it('refuses events for a group that has left, so that they stay in the outbox until it is back', async () => {
    const { bus } = open();
    const seen: string[] = [];
    const subscribe = () =>
      bus.subscribe({
        topics: ['taxpayers.v1'],
        group: 'g',
        handler: async (event) => {
          seen.push(event.id);
        },
      });
    const first = await subscribe();
    await first.stop();
    const event = taxpayerEvent('131000001');
    await expect(bus.publish([event])).rejects.toThrow('cannot work at present');
    await subscribe();
    await bus.publish([event]);
    expect(seen).toEqual([event.id]);
  });

  it('counts the results of events', async () => {
    const metrics = createMetrics();
    const { bus } = open(metrics);
    await bus.subscribe({
      topics: ['taxpayers.v1'],
      group: 'g',
      handler: async (event) => {
        if (event.key === '131000001') throw new Error('no');
      },
    });
    await bus.publish([taxpayerEvent('131000001'), taxpayerEvent('131000002')]);
    const text = await metrics.render();
    const line = (outcome: string) => `ecf_events_handled_total{topic="taxpayers.v1",group="g",outcome="${outcome}"}`;
    expect(text).toContain(`${line('done')} 1`);
    expect(text).toContain(`${line('failed')} 2`);
    expect(text).toContain(`${line('dead')} 1`);
  });

  it('gives up a handler that never ends, and continues', async () => {
    const { bus, deadLetters } = open();
    await bus.subscribe({ topics: ['taxpayers.v1'], group: 'g', handler: () => new Promise(() => {}) });
    await bus.publish([taxpayerEvent('131000001')]);
    expect(await deadLetters.list()).toMatchObject([{ reason: 'Error: the handler took longer than 200 ms' }]);
  });
});
