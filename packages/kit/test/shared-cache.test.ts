import { CuttableProxy, type RedisServer, redis } from '@ecf/test-servers';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { SharedCache } from '../src/cache/shared-cache.js';
import { openRedisCache } from '../src/cache/shared-cache.redis.js';
import { createMasterKeys } from '../src/seal.js';
import { createLogger } from '../src/telemetry/logger.js';
import { createMetrics, type Metrics } from '../src/telemetry/metrics.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const server: RedisServer | null = await redis();
const withRedis = server === null ? describe.skip : describe;
const opened: SharedCache[] = [];
const lines: string[] = [];
let metrics: Metrics;

function open(
  masterKey: Uint8Array = MASTER_KEY,
  url = server?.url as string,
  parts: { leaseMs?: number; commandMs?: number } = {},
): SharedCache {
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (text) => void lines.push(text) },
  });
  metrics = createMetrics();
  // A busy machine takes longer than the default for a command.
  const given = { commandMs: 20_000, ...parts };
  const cache = openRedisCache(url, { sealingKeys: createMasterKeys([masterKey]), logger, metrics, ...given });
  opened.push(cache);
  return cache;
}

const isUp = async () => /^ecf_shared_cache_up 1$/m.test(await metrics.render());

afterEach(async () => {
  for (const cache of opened.splice(0)) await cache.close();
  lines.length = 0;
});
afterAll(() => server?.stop());

withRedis('a shared cache', () => {
  beforeAll(async () => {
    open();
    await until(isUp);
  });

  it('gives one process the value that another set, until it expires', async () => {
    const [one, other] = [open(), open()];
    await until(isUp);
    await one.set('k1', 'secret token', 60_000);
    expect(await other.get('k1')).toBe('secret token');
    await one.set('k2', 'short', 30);
    await until(async () => (await other.get('k2')) === null);
  });

  it('removes a key only while it holds the given value', async () => {
    const [one, other] = [open(), open()];
    await until(isUp);
    await one.set('k3', 'first', 60_000);
    await other.set('k3', 'second', 60_000);
    await one.remove('k3', 'first');
    expect(await one.get('k3')).toBe('second');
    await one.remove('k3', 'second');
    expect(await other.get('k3')).toBeNull();
  });

  it('seals values under the master key and their own key', async () => {
    const one = open();
    await until(isUp);
    await one.set('k4', 'secret token', 60_000);
    const client = new Redis(server?.url as string);
    const stored = (await client.get('k4')) as string;
    expect(Buffer.from(stored, 'base64').toString('latin1')).not.toContain('secret token');
    await client.set('k5', stored);
    client.disconnect();
    expect(await open(Buffer.alloc(32, 8)).get('k4')).toBeNull();
    expect(await one.get('k5')).toBeNull();
  });

  it('runs one process at a time under a lease, and continues after its holder crashed', async () => {
    const caches = [open(), open(), open()];
    await until(isUp);
    let working = 0;
    let most = 0;
    const work = async () => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 20));
      working -= 1;
    };
    await Promise.all(caches.flatMap((cache) => [cache.alone('k6', work), cache.alone('k6', work)]));
    expect(most).toBe(1);
    await expect(caches[0]?.alone('k6', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    const client = new Redis(server?.url as string);
    await client.set('k7:lease', 'a dead process', 'PX', 200);
    client.disconnect();
    expect(await caches[1]?.alone('k7', async () => 'done')).toBe('done');
  });

  it('keeps a lease as long as its work lasts, and ends it soon after the process that holds it has died', async () => {
    const [living, dying, waiting] = [
      open(MASTER_KEY, server?.url, { leaseMs: 3_000 }),
      open(MASTER_KEY, server?.url, { leaseMs: 1_000 }),
      open(),
    ];
    await until(isUp);
    const client = new Redis(server?.url as string);
    const log: string[] = [];
    let begun = () => {};
    const work = living.alone('k8', async () => {
      begun();
      let left = await client.pttl('k8:lease');
      await until(async () => {
        const before = left;
        left = await client.pttl('k8:lease');
        return left > before;
      });
      log.push('ended');
    });
    await new Promise<void>((resolve) => {
      begun = resolve;
    });
    await waiting.alone('k8', async () => void log.push('next'));
    await work;
    expect(log).toEqual(['ended', 'next']);

    await new Promise<void>((resolve) => void dying.alone('k9', () => new Promise(() => resolve())));
    // A killed process does not renew its lease.
    await dying.close();
    expect(await waiting.alone('k9', async () => 'done')).toBe('done');

    const left = await waiting.alone('k10', () => client.pttl('k10:lease'));
    client.disconnect();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(10_000);
  });
});

withRedis('a shared cache with a slow server', () => {
  it('delays only the first call, and warns and counts once until the server is quick again', async () => {
    const address = new URL(server?.url as string);
    const way = await CuttableProxy.start({ host: address.hostname, port: Number(address.port || 6379) });
    Object.assign(address, { hostname: '127.0.0.1', port: String(way.port) });
    const one = open(MASTER_KEY, address.href, { commandMs: 150 });
    await until(isUp);
    await one.set('s1', 'kept', 60_000);
    expect(await one.get('s1')).toBe('kept');
    way.delayMs = 700;
    expect(await one.get('s1')).toBe('kept');
    for (let i = 0; i < 50; i += 1) {
      await one.set('s2', String(i), 60_000);
      expect(await one.get('s2')).toBe(String(i));
      expect(await one.alone('s3', async () => i)).toBe(i);
    }
    expect(await isUp()).toBe(false);
    // The pauses double, so fewer than ten of the 150 calls waited for the server, however slow this machine is.
    expect(await metrics.render()).toMatch(/^ecf_shared_cache_failures_total\{reason="slow"\} [1-9]$/m);
    expect(lines.filter((line) => line.includes('unavailable or slow'))).toHaveLength(1);
    way.delayMs = 0;
    await until(async () => {
      await one.set('s4', 'quick', 60_000);
      return isUp();
    });
    // Commands whose answers came too late left no lease.
    const client = new Redis(server?.url as string);
    expect(await client.exists('s3:lease')).toBe(0);
    client.disconnect();
    await way.cut();
  });
});

const control = server?.control ?? null;
(control === null ? describe.skip : describe)('a shared cache without its server', () => {
  it('lets each process use its own values, warns once, and is shared again after a restart', async () => {
    const one = open();
    await until(isUp);
    await control?.kill();
    await one.set('k8', 'mine', 60_000);
    expect(await one.get('k8')).toBe('mine');
    expect(await one.alone('k8', async () => 'worked')).toBe('worked');
    await one.remove('k8', 'mine');
    expect(await one.get('k8')).toBeNull();
    expect(await isUp()).toBe(false);
    const warnings = lines.filter((line) => line.includes('the shared cache is unavailable or slow'));
    expect(warnings).toHaveLength(1);
    expect(warnings.join()).not.toContain('mine');
    await control?.restart();
    await until(isUp);
    await one.set('k9', 'shared', 60_000);
    const other = open();
    await until(isUp);
    expect(await other.get('k9')).toBe('shared');
    expect(lines.filter((line) => line.includes('answers again')).length).toBeGreaterThan(0);
  });

  it('lets a process start before its server', async () => {
    await control?.kill();
    const early = open();
    await early.set('k10', 'own', 60_000);
    expect(await early.get('k10')).toBe('own');
    await control?.restart();
    await until(isUp);
  });
});
