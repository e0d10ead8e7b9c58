import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@ecf/kit/telemetry';
import { redis } from '@ecf/test-servers';
import { setProcessClockAhead } from '@ecf/test-support/process-clock';
import { afterAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openRateCounters } from '../src/rate-counters.js';

const HOUR = 3_600_000;
const server = await redis();
const logger = { warn: () => undefined, info: () => undefined } as unknown as Logger;
const counters = openRateCounters({ REDIS_URL: server?.url }, logger);
const counter = counters.open('test', 5);
const store = server && new Redis(server.url);
afterAll(async () => {
  counters.close();
  store?.disconnect();
  await server?.stop();
});

/** Counts until the rate is exceeded, or not exceeded any more. Rejects after some seconds. */
async function countUntil(caller: string, exceeded: boolean): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if ((await counter.count(caller))?.exceeded === exceeded) return;
    await delay(exceeded ? 0 : 20);
  }
  throw new Error(`the rate is ${exceeded ? 'not exceeded' : 'exceeded for ever'}`);
}

/** Until Redis answers, the process counts by itself. */
async function countedInRedis(): Promise<void> {
  for (;;) {
    const probe = randomUUID();
    await counter.count(probe);
    if (await store?.exists(`ecf:rate:test:${probe}`)) return;
  }
}

// Without Docker, a redis-server or its Debian package there is no Redis.
const itWithRedis = server === null ? it.skip : it;

itWithRedis(
  'a rate exceeded while the process clock was three hours ahead is free again in the next second',
  async () => {
    await countedInRedis();
    const caller = randomUUID();
    const correct = setProcessClockAhead(3 * HOUR);
    await countUntil(caller, true).finally(correct);
    await countUntil(caller, false);
  },
);

itWithRedis(
  'a rate exceeded while the clock of Redis was three hours ahead is free again in the next second',
  async () => {
    await countedInRedis();
    const caller = randomUUID();
    await store?.set(`ecf:rate:test:${caller}`, 6, 'PX', 3 * HOUR);
    const counted = await counter.count(caller);
    expect(counted?.resetMs).toBeLessThanOrEqual(1_000);
    await countUntil(caller, false);
  },
);
