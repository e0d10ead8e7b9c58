import { createLogger, createMetrics, type Logger } from '@ecf/service-kit/telemetry';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createFreeSpaceGuard } from '../src/free-space-guard.js';
import { createReceivedBytesQuota, createRefusedBytesQuota, refusalFolder } from '../src/stored-bytes-quota.js';
import { createInMemoryQuotaStore } from './support/quota-store.js';

const MORNING = new Date('2026-06-23T12:00:00Z');
const TOMORROW = new Date('2026-06-24T00:00:00Z');

/** A quota of two documents of 100 bytes of a sender, three of all. */
function day() {
  const budgets = createInMemoryQuotaStore();
  const settings = { maxRefusedBytes: 100, maxRefusedBytesPerSender: 200, maxRefusedBytesPerDay: 300 };
  const quota = createRefusedBytesQuota(budgets, settings);
  return (network: string, receivedAt = MORNING, bytes = 100) => quota.take({ bytes, receivedAt, network });
}

describe('the quota of refused documents', () => {
  it('limits one document, a sender and all senders; another day starts again', async () => {
    const take = day();
    expect(await take('a', MORNING, 101)).toBe('size');
    for (let n = 0; n < 2; n++) expect(await take('a')).toBeNull();
    for (let n = 0; n < 5; n++) expect(await take('a')).toBe('sender');
    // Refused claims of one sender do not reduce the quota of others.
    expect(await take('b')).toBeNull();
    expect(await take('b')).toBe('total');
    expect(await take('a', TOMORROW)).toBeNull();
  });

  it('a narrower claim counts first and replaces the limit on size', async () => {
    const quota = createRefusedBytesQuota(createInMemoryQuotaStore(), {
      maxRefusedBytes: 0,
      maxRefusedBytesPerSender: 1_000,
      maxRefusedBytesPerDay: 1_000,
    });
    const narrower = [{ of: 'number', claim: { scope: 'n', period: '', amount: 100, limit: 100 } }] as const;
    const refused = { bytes: 100, receivedAt: MORNING, network: 'a' };
    expect(await quota.take(refused, narrower)).toBeNull();
    expect(await quota.take(refused, narrower)).toBe('number');
    expect(await quota.take(refused)).toBe('size');
  });

  it('the folder of refused documents has the day', () => {
    expect(refusalFolder(new Date('2026-06-24T02:00:00Z'), `ab${'0'.repeat(62)}`)).toBe('2026/06/23/ab');
  });
});

describe('the quota of received documents', () => {
  const MEBIBYTE = 1_024 * 1_024;
  const LIMIT = 1_000 * MEBIBYTE;

  it('counts over all instances, to the byte; another sender and another day have their own quota', async () => {
    const budgets = createInMemoryQuotaStore();
    const [one, other] = [createReceivedBytesQuota(budgets, LIMIT), createReceivedBytesQuota(budgets, LIMIT)];
    const of = (network: string, bytes: number, receivedAt = MORNING) => ({ network, bytes, receivedAt });
    await Promise.all([one.take(of('a', 600 * MEBIBYTE)), other.take(of('a', 398 * MEBIBYTE - 1))]);
    await other.take(of('a', MEBIBYTE));
    const used = await one.take(of('a', MEBIBYTE + 2)).catch((error: unknown) => error);
    expect(used).toMatchObject({ name: 'DailyBytesUsed', retryAfterSeconds: 43_200 });
    // A refused claim uses no quota.
    await one.take(of('a', MEBIBYTE));
    await expect(one.take(of('a', 2))).rejects.toMatchObject({ name: 'DailyBytesUsed' });
    await one.take(of('b', LIMIT));
    await one.take(of('a', LIMIT, TOMORROW));
  });
});

function listening() {
  const said: string[] = [];
  return { said, logger: createLogger({ service: 'test', destination: { write: (line) => void said.push(line) } }) };
}

function guardOf(logger: Logger, freeBytes: () => Promise<number>) {
  return createFreeSpaceGuard({
    service: 'test',
    folder: '/nowhere',
    minFreeBytes: 50,
    database: { query: () => Promise.reject(new Error('none')) },
    metrics: createMetrics(),
    logger,
    freeBytes,
  });
}

describe('the free-space guard', () => {
  afterEach(() => void jest.useRealTimers());

  it('runs one check at a time, however long the disk hangs', async () => {
    jest.useFakeTimers();
    const { logger, said } = listening();
    let [looks, answer] = [0, (_bytes: number) => {}];
    const freeBytes = () => {
      looks += 1;
      if (looks === 1) return Promise.resolve(100);
      return new Promise<number>((resolve) => {
        answer = resolve;
      });
    };
    const guard = guardOf(logger, freeBytes);
    await guard.start();
    expect(said).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(looks).toBe(2);
    guard.require();
    answer(10);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(looks).toBe(3);
    expect(() => guard.require()).toThrow('nearly full');
    guard.stop();
  });

  it('logs the reason of a slow start if the disk does not answer', async () => {
    jest.useFakeTimers();
    const { logger, said } = listening();
    let answer = (_bytes: number) => {};
    const freeBytes = () =>
      new Promise<number>((resolve) => {
        answer = resolve;
      });
    const guard = guardOf(logger, freeBytes);
    const started = guard.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual([expect.stringMatching(/"folder":"\/nowhere".*the start waits for the disk of DATA_DIR/)]);
    answer(100);
    await started;
    guard.stop();
  });
});
