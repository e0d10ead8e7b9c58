import { createLogger, createMetrics, type Logger } from '@ecf/service-kit/telemetry';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  createInMemoryRefusalBudgets,
  createStorageRoom,
  DailyReceivedBytes,
  DailyRefusedBytes,
  refusalFolder,
} from '../src/index.js';

const MORNING = new Date('2026-06-23T12:00:00Z');
const TOMORROW = new Date('2026-06-24T00:00:00Z');

/** Room for two documents of 100 bytes of a sender, three of all. */
function day() {
  const budgets = createInMemoryRefusalBudgets();
  const settings = { maxRefusedBytes: 100, maxRefusedBytesPerSender: 200, maxRefusedBytesPerDay: 300 };
  const room = new DailyRefusedBytes(budgets, settings);
  return (network: string, receivedAt = MORNING, bytes = 100) => room.take({ bytes, receivedAt, network });
}

describe('what is kept of refused documents in a day', () => {
  it('is bounded for one document, for a sender and for all; another day begins anew', async () => {
    const take = day();
    expect(await take('a', MORNING, 101)).toBe('size');
    for (let n = 0; n < 2; n++) expect(await take('a')).toBeNull();
    for (let n = 0; n < 5; n++) expect(await take('a')).toBe('sender');
    // What one was refused it did not take from others.
    expect(await take('b')).toBeNull();
    expect(await take('b')).toBe('total');
    expect(await take('a', TOMORROW)).toBeNull();
  });

  it('a narrower bound comes first and takes the place of the one on size', async () => {
    const room = new DailyRefusedBytes(createInMemoryRefusalBudgets(), {
      maxRefusedBytes: 0,
      maxRefusedBytesPerSender: 1_000,
      maxRefusedBytesPerDay: 1_000,
    });
    const narrower = [{ of: 'number', claim: { scope: 'n', period: '', amount: 100, limit: 100 } }] as const;
    const refused = { bytes: 100, receivedAt: MORNING, network: 'a' };
    expect(await room.take(refused, narrower)).toBeNull();
    expect(await room.take(refused, narrower)).toBe('number');
    expect(await room.take(refused)).toBe('size');
  });

  it('lies by day, apart from what is accepted', () => {
    expect(refusalFolder(new Date('2026-06-24T02:00:00Z'), `ab${'0'.repeat(62)}`)).toBe('2026/06/23/ab');
  });
});

describe('what is taken of a sender in a day', () => {
  const MEBIBYTE = 1_024 * 1_024;
  const LIMIT = 1_000 * MEBIBYTE;

  it('is bounded over all instances, to the byte where one takes it all; another sender and another day have their own', async () => {
    const budgets = createInMemoryRefusalBudgets();
    const [one, other] = [new DailyReceivedBytes(budgets, LIMIT), new DailyReceivedBytes(budgets, LIMIT)];
    const of = (network: string, bytes: number, receivedAt = MORNING) => ({ network, bytes, receivedAt });
    await Promise.all([one.take(of('a', 600 * MEBIBYTE)), other.take(of('a', 398 * MEBIBYTE - 1))]);
    await other.take(of('a', MEBIBYTE));
    const used = await one.take(of('a', MEBIBYTE + 2)).catch((error: unknown) => error);
    expect(used).toMatchObject({ status: 429, code: 'daily_bytes_used', headers: { 'retry-after': '43200' } });
    // What does not fit takes nothing from what does.
    await one.take(of('a', MEBIBYTE));
    await expect(one.take(of('a', 2))).rejects.toMatchObject({ status: 429 });
    await one.take(of('b', LIMIT));
    await one.take(of('a', LIMIT, TOMORROW));
  });

  it('is claimed ahead, so that most documents cost no statement', async () => {
    const budgets = createInMemoryRefusalBudgets();
    const take = jest.spyOn(budgets, 'take');
    const room = new DailyReceivedBytes(budgets, LIMIT);
    const document = { network: 'a', bytes: 10_000, receivedAt: MORNING };
    await Promise.all(Array.from({ length: 100 }, () => room.take(document)));
    expect(take).toHaveBeenCalledTimes(1);
  });

  it('is not used up by what the storage does not take, on its own day', async () => {
    const room = new DailyReceivedBytes(createInMemoryRefusalBudgets(), 100);
    const document = { network: 'a', bytes: 100, receivedAt: MORNING };
    for (let outage = 0; outage < 5; outage += 1) {
      await room.take(document);
      room.giveBack(document);
    }
    await room.take(document);
    room.giveBack({ ...document, receivedAt: TOMORROW });
    room.giveBack({ ...document, network: 'b' });
    await expect(room.take(document)).rejects.toMatchObject({ status: 429 });
  });
});

function listening() {
  const said: string[] = [];
  return { said, logger: createLogger({ service: 'test', destination: { write: (line) => void said.push(line) } }) };
}

function roomOf(logger: Logger, freeBytes: () => Promise<number>) {
  return createStorageRoom({
    service: 'test',
    folder: '/nowhere',
    floor: 50,
    database: { query: () => Promise.reject(new Error('none')) },
    metrics: createMetrics(),
    logger,
    freeBytes,
  });
}

describe('the room on the disk', () => {
  afterEach(() => void jest.useRealTimers());

  it('is looked up once at a time, however long the disk hangs', async () => {
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
    const room = roomOf(logger, freeBytes);
    await room.start();
    expect(said).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(looks).toBe(2);
    room.require();
    answer(10);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(looks).toBe(3);
    expect(() => room.require()).toThrow('nearly full');
    room.stop();
  });

  it('says what a start waits for where the disk does not answer', async () => {
    jest.useFakeTimers();
    const { logger, said } = listening();
    let answer = (_bytes: number) => {};
    const freeBytes = () =>
      new Promise<number>((resolve) => {
        answer = resolve;
      });
    const room = roomOf(logger, freeBytes);
    const started = room.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual([expect.stringMatching(/"folder":"\/nowhere".*the start waits for the disk of DATA_DIR/)]);
    answer(100);
    await started;
    room.stop();
  });
});
