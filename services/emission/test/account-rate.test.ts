import { randomUUID } from 'node:crypto';
import { createMetrics } from '@ecf/kit/telemetry';
import { type RedisServer, redis } from '@ecf/test-servers';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, it } from '@jest/globals';
import { openAccountRate } from '../src/batches/account-rate.redis.js';
import { until } from './support/until.js';

const server: RedisServer | null = await redis();
const instances = [1, 2].map(() =>
  openAccountRate(
    { RATE_LIMIT_PER_ACCOUNT: 10, REDIS_URL: server?.url },
    { logger: silentLogger, metrics: createMetrics(), clock: () => new Date() },
  ),
);
afterAll(async () => {
  for (const instance of instances) instance.close();
  await server?.stop();
});

// Without Docker, a redis-server or its Debian package there is no Redis.
const itWithRedis = server === null ? it.skip : it;

itWithRedis('instances count the documents of an account together: lines use four fifths, calls the rest', async () => {
  // Until Redis answers, each instance counts by itself.
  await until(async () => {
    const probe = randomUUID();
    const left = await Promise.all(instances.map(async ({ countCall }) => (await countCall(probe))?.remaining));
    return left.includes(8);
  });
  const allowed = async () => {
    const account = randomUUID();
    const lines = await Promise.all(
      instances.flatMap(({ lines }) => Array.from({ length: 20 }, () => lines.count(account))),
    );
    const calls = await Promise.all(
      instances.flatMap(({ countCall }) => Array.from({ length: 5 }, () => countCall(account))),
    );
    const exhausted = instances.filter(({ lines }) => lines.exhausted().accountIds.includes(account));
    return [
      lines.filter((freeAt) => freeAt === null).length,
      calls.filter((counted) => counted?.exceeded === false).length,
      exhausted.length,
    ];
  };
  // On a busy machine the calls may take longer than the second in which they are counted.
  await until(async () => JSON.stringify(await allowed()) === '[8,2,2]', 'the shares of one second');
});
