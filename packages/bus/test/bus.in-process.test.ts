import { createMetrics, type Metrics } from '@ecf/kit/telemetry';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';
import { createInProcessBus } from '../src/bus.in-process.js';
import { withDeadLetters } from '../src/dead-letters.js';
import { describeBus } from './bus-contract.js';
import { taxpayerEvent } from './sample-events.js';

function open(metrics?: Metrics) {
  const deadLetters = memoryDeadLetters();
  const retry = { attempts: 3, firstDelayMs: 1, maxDelayMs: 2, timeoutMs: 200 };
  const bus = createInProcessBus({ logger: silentLogger, retry, ...(metrics === undefined ? {} : { metrics }) });
  return { bus: withDeadLetters(bus, deadLetters), deadLetters };
}

describeBus('the bus of one process', () => open().bus);

describe('the bus of one process, beside the contract,', () => {
  it('has handled every event when publish resolves', async () => {
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
    expect(deadLetters.kept).toMatchObject([{ reason: 'Error: the handler took longer than 200 ms' }]);
  });
});
