import { createLogger, createMetrics, type Logger } from '@ecf/kit/telemetry';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createFreeSpaceGuard } from '../src/free-space-guard.js';
import { createStoredBytesQuota, refusalFolder, StoredBytesUsed, type Storer } from '../src/stored-bytes-quota.js';
import { createInMemoryQuotaStore } from './support/quota-store.js';

const NOON = new Date('2026-06-23T12:10:00Z');
const later = (hours: number) => new Date(NOON.getTime() + hours * 3_600_000);

const LIMITS = {
  maxStoredBytesPerSender: 200,
  maxStoredBytesFromStrangers: 600,
  maxStoredBytesPerKnownSigner: 1_000,
  reserveForTrusted: true,
};

/** Takes bytes of a sender, and says what comes of it. */
function shares(limits: Partial<typeof LIMITS> = {}, quotas = createInMemoryQuotaStore()) {
  const quota = createStoredBytesQuota(quotas, { ...LIMITS, ...limits });
  return async (
    sender: string,
    bytes: number,
    signer: Partial<NonNullable<Storer['signer']>> | null = null,
    at = NOON,
  ) => {
    const full = signer === null ? null : { name: 'eCF:1:k', known: false, trusted: false, ...signer };
    const over = await quota.take({ at, sender, signer: full }, bytes).catch((error: unknown) => error);
    if (over === null) return 'kept';
    expect(over).toBeInstanceOf(StoredBytesUsed);
    return /MAX_STORED_BYTES_\w+/.exec((over as Error).message)?.[0];
  };
}

describe('the shares of kept bytes', () => {
  it('bound a sender for 24 hours, to the byte, over all instances', async () => {
    const quotas = createInMemoryQuotaStore();
    const [one, other] = [shares({}, quotas), shares({}, quotas)];
    expect([await one('a', 120), await other('a', 81)]).toEqual(['kept', 'MAX_STORED_BYTES_PER_SENDER']);
    expect([await other('a', 80), await one('a', 1)]).toEqual(['kept', 'MAX_STORED_BYTES_PER_SENDER']);
    expect(await one('b', 100)).toBe('kept');
    expect(await one('a', 1, null, later(23))).toBe('MAX_STORED_BYTES_PER_SENDER');
    expect(await one('a', 200, null, later(24))).toBe('kept');
  });

  it('come back hour by hour, and Retry-After names the hour in which enough bytes no longer count', async () => {
    const quota = createStoredBytesQuota(createInMemoryQuotaStore(), LIMITS);
    const take = (hours: number, bytes: number) =>
      quota.take({ at: later(hours), sender: 'a', signer: null }, bytes).then(
        () => 'kept',
        (error: StoredBytesUsed) => error.retryAfterSeconds / 3_600,
      );
    // The first claim comes ten minutes after a full hour.
    const tenMinutes = 1 / 6;
    expect([await take(0, 50), await take(10, 100), await take(20, 50)]).toEqual(['kept', 'kept', 'kept']);
    expect([await take(21, 50), await take(21, 51), await take(21, 150), await take(21, 200)]).toEqual([
      3 - tenMinutes,
      13 - tenMinutes,
      13 - tenMinutes,
      23 - tenMinutes,
    ]);
    expect([await take(21, 201), await take(23, 1), await take(24 - tenMinutes, 50)]).toEqual([
      23 - tenMinutes,
      1 - tenMinutes,
      'kept',
    ]);
    expect([await take(33, 1), await take(34, 100), await take(34, 1)]).toEqual([
      1 - tenMinutes,
      'kept',
      10 - tenMinutes,
    ]);
  });

  it('bound all strangers together; half is for trusted signers, and known signers have a separate bound', async () => {
    const take = shares();
    for (const sender of ['a', 'b']) expect(await take(sender, 150)).toBe('kept');
    expect(await take('c', 1)).toBe('MAX_STORED_BYTES_FROM_STRANGERS');
    expect(await take('d', 1, {})).toBe('MAX_STORED_BYTES_FROM_STRANGERS');
    for (const sender of ['e', 'f']) expect(await take(sender, 150, { trusted: true })).toBe('kept');
    expect(await take('g', 1, { trusted: true })).toBe('MAX_STORED_BYTES_FROM_STRANGERS');
    expect(await take('a', 600, { known: true })).toBe('kept');
    expect(await take('h', 401, { known: true })).toBe('MAX_STORED_BYTES_PER_KNOWN_SIGNER');
    expect(await take('h', 400, { known: true, name: 'eCF:1:other' })).toBe('kept');
  });

  it('has no half for trusted signers where no issuers are trusted', async () => {
    const take = shares({ reserveForTrusted: false });
    for (const sender of ['a', 'b', 'c']) expect(await take(sender, 200)).toBe('kept');
    expect(await take('d', 1)).toBe('MAX_STORED_BYTES_FROM_STRANGERS');
  });

  it('a narrower claim counts first; what does not fit takes nothing', async () => {
    const quota = createStoredBytesQuota(createInMemoryQuotaStore(), LIMITS);
    const storer = { at: NOON, sender: 'a', signer: null };
    const narrower = [{ of: 'number', claim: { scope: 'n', hour: null, amount: 100, limit: 100 } }] as const;
    expect(await quota.take(storer, 100, narrower)).toBeNull();
    expect(await quota.take(storer, 100, narrower)).toBe('number');
    expect(await quota.take(storer, 100)).toBeNull();
    await expect(quota.take(storer, 1)).rejects.toBeInstanceOf(StoredBytesUsed);
  });

  it('the folder of refused documents has the day', () => {
    expect(refusalFolder(new Date('2026-06-24T02:00:00Z'), `ab${'0'.repeat(62)}`)).toBe('2026/06/23/ab');
  });
});

function listening() {
  const said: string[] = [];
  return { said, logger: createLogger({ service: 'test', destination: { write: (line) => void said.push(line) } }) };
}

function guardOf(logger: Logger, freeBytes: () => Promise<number>) {
  return createFreeSpaceGuard({
    service: 'test',
    storage: { name: 'the disk of /nowhere', freeBytes },
    minFreeBytes: 50,
    database: { query: () => Promise.reject(new Error('none')) },
    metrics: createMetrics(),
    logger,
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
    // A little more than the minimum of 50 is not enough to accept documents again.
    answer(60);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(() => guard.require()).toThrow('nearly full');
    answer(63);
    await jest.advanceTimersByTimeAsync(5_000);
    guard.require();
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
    expect(said).toEqual([expect.stringMatching(/the start waits for the disk of \/nowhere/)]);
    answer(100);
    await started;
    guard.stop();
  });
});
