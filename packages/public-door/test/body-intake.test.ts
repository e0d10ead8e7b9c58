import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError } from '@ecf/service-kit/http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { BodyIntake, type IntakeLimits } from '../src/body-intake.js';

const KB = 1024;
const LIMITS: IntakeLimits = {
  maxBytes: 100 * KB,
  maxHeldBytes: 1_200 * KB,
  maxHeldBytesPerSender: 200 * KB,
  maxRequests: 100,
  maxRequestsPerSender: 6,
  timeoutMs: 30_000,
  minRate: 1024,
};

function request(headers: Record<string, string> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}`;
    throw error;
  }
  return 'taken';
}

/** Lets streams deliver what was written. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

afterEach(() => {
  jest.useRealTimers();
});

describe('a body', () => {
  it('arrives whole, is counted while it is held, and no longer', async () => {
    const intake = new BodyIntake(LIMITS);
    const req = request();
    const reading = intake.read(req, 'a');
    req.write('one ');
    req.end('two');
    const body = await reading;
    expect(body.bytes.toString()).toBe('one two');
    expect(intake.load).toEqual({ bytes: 7, requests: 1 });
    body.release();
    body.release();
    expect(intake.load).toEqual({ bytes: 0, requests: 0 });
  });

  it('is refused before it is read where it says that it is too large or compressed', async () => {
    const intake = new BodyIntake(LIMITS);
    expect(await codeOf(intake.read(request({ 'content-length': '999999' }), 'a'))).toBe('413 body_too_large');
    expect(await codeOf(intake.read(request({ 'content-encoding': 'gzip' }), 'a'))).toBe('415 unsupported_media_type');
    expect(intake.load.requests).toBe(0);
  });

  it('is refused when it turns out too large', async () => {
    const intake = new BodyIntake(LIMITS);
    const req = request();
    const reading = codeOf(intake.read(req, 'a'));
    req.write(Buffer.alloc(60 * KB));
    req.write(Buffer.alloc(60 * KB));
    expect(await reading).toBe('413 body_too_large');
    expect(intake.load).toEqual({ bytes: 0, requests: 0 });
  });

  it('whose connection is lost holds nothing any more', async () => {
    const intake = new BodyIntake(LIMITS);
    const req = request();
    const reading = codeOf(intake.read(req, 'a'));
    req.write(Buffer.alloc(KB));
    await settle();
    req.destroy();
    expect(await reading).toBe('400 bad_request');
    expect(intake.load).toEqual({ bytes: 0, requests: 0 });
    expect(await codeOf(intake.read(req, 'a'))).toBe('400 bad_request');
  });
});

describe('bounds', () => {
  it('a body in small chunks keeps none of them: it takes the memory that is counted for it', async () => {
    const size = 256 * KB;
    const intake = new BodyIntake({
      ...LIMITS,
      maxBytes: 2 * size,
      maxHeldBytes: 9 * size,
      maxHeldBytesPerSender: 9 * size,
    });
    const req = request();
    const reading = intake.read(req, 'a');
    // What is kept of a chunk would show what the chunk becomes.
    const chunk = Buffer.alloc(64);
    for (let sent = 0; sent < size; sent += chunk.length) {
      chunk.fill((sent / chunk.length) % 251);
      req.emit('data', chunk);
    }
    expect(intake.load.bytes).toBeLessThanOrEqual(2 * size);
    req.emit('end');
    const { bytes } = await reading;
    expect(bytes.equals(Buffer.from(Array.from({ length: size }, (_, at) => Math.floor(at / 64) % 251)))).toBe(true);
    expect([bytes.buffer.byteLength, intake.load.bytes]).toEqual([size, size]);
  });

  it('more chunks of a byte than any sender makes are refused', async () => {
    const intake = new BodyIntake({
      ...LIMITS,
      maxBytes: 900 * KB,
      maxHeldBytes: 9_000 * KB,
      maxHeldBytesPerSender: 9_000 * KB,
    });
    const req = request();
    const reading = codeOf(intake.read(req, 'a'));
    const byte = Buffer.alloc(1);
    let sent = 0;
    while (intake.load.requests > 0 && sent < 500 * KB) {
      req.emit('data', byte);
      sent += 1;
    }
    expect([await reading, sent]).toEqual(['400 bad_request', 16 * KB + 1]);
  });

  it('memory that is taken for more than arrived counts as held', async () => {
    const intake = new BodyIntake(LIMITS);
    for (let i = 0; i < 3; i += 1) {
      const req = request();
      void codeOf(intake.read(req, 'a'));
      req.emit('data', Buffer.alloc(1));
    }
    expect(intake.load).toEqual({ bytes: 3 * 4 * KB, requests: 3 });
    const announced = request({ 'content-length': '10' });
    void codeOf(intake.read(announced, 'a'));
    announced.emit('data', Buffer.alloc(1));
    expect(intake.load.bytes).toBe(3 * 4 * KB + 10);
  });

  it('a sender that holds all it may is refused, others are not', async () => {
    const intake = new BodyIntake(LIMITS);
    for (let i = 0; i < 2; i++) {
      const req = request();
      void codeOf(intake.read(req, 'a'));
      req.write(Buffer.alloc(90 * KB));
    }
    await settle();
    const greedy = request();
    const third = codeOf(intake.read(greedy, 'a'));
    greedy.write(Buffer.alloc(90 * KB));
    const other = request();
    const fine = codeOf(intake.read(other, 'b'));
    other.end(Buffer.alloc(90 * KB));
    expect([await third, await fine]).toEqual(['429 rate_limited', 'taken']);
  });

  /** Sends a whole body that stays held; resolves with what came of it. */
  async function hold(intake: BodyIntake, sender: string, bytes: number): Promise<string> {
    const req = request();
    const end = codeOf(intake.read(req, sender));
    req.end(Buffer.alloc(bytes));
    return end;
  }

  it.each([2, 10, 30])('%i addresses that send all they can bar no ordinary sender', async (addresses) => {
    const intake = new BodyIntake(LIMITS, () => 0);
    for (const size of [95, 20, 10]) {
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < addresses; i += 1) await hold(intake, `greedy ${i}`, size * KB);
      }
    }
    const ordinary = Array.from({ length: 3 }, (_, i) => hold(intake, `ordinary ${i}`, 4 * KB));
    expect(await Promise.all(ordinary)).toEqual(['taken', 'taken', 'taken']);
  });

  it('beside others that hold much one gets less, and less yet the more it has', async () => {
    const intake = new BodyIntake(LIMITS, () => 0);
    const ends: string[] = [];
    for (let i = 0; i < 12; i += 1) ends.push(await hold(intake, `greedy ${i}`, 95 * KB));
    expect([ends.filter((end) => end === 'taken').length, ends.at(-1)]).toEqual([10, '503 service_unavailable']);
    expect(await hold(intake, 'greedy 0', 30 * KB)).toBe('503 service_unavailable');
    expect(await hold(intake, 'another', 30 * KB)).toBe('taken');
  });

  it('the slowest body gives way to an ordinary one that needs its place, not to more of one who has much', async () => {
    let now = 0;
    const intake = new BodyIntake(LIMITS, () => now);
    const slow = Array.from({ length: 61 }, (_, i) => {
      const req = request();
      const end = codeOf(intake.read(req, `slow ${i}`));
      req.write(Buffer.alloc(19 * KB));
      return end;
    });
    await settle();
    now = 10_000;
    expect(await hold(intake, 'much', 60 * KB)).toBe('503 service_unavailable');
    expect(intake.load.requests).toBe(61);
    expect(await hold(intake, 'ordinary', 15 * KB)).toBe('taken');
    expect(await Promise.race(slow)).toBe('408 request_timeout');
  });

  it('one that holds much and is slow gives way to who would hold less', async () => {
    let now = 0;
    const intake = new BodyIntake({ ...LIMITS, maxBytes: 300 * KB, maxHeldBytesPerSender: 300 * KB }, () => now);
    const slow = Array.from({ length: 4 }, (_, i) => {
      const req = request();
      const end = codeOf(intake.read(req, `slow ${i}`));
      req.write(Buffer.alloc(180 * KB));
      return end;
    });
    await settle();
    now = 10_000;
    expect(await hold(intake, 'quick', 170 * KB)).toBe('taken');
    expect(await Promise.race(slow)).toBe('408 request_timeout');
  });

  it('where none is slow the newcomer with more than half of what is left is refused', async () => {
    const intake = new BodyIntake({ ...LIMITS, maxHeldBytes: 300 * KB }, () => 0);
    expect(await hold(intake, 'a', 95 * KB)).toBe('taken');
    expect(await hold(intake, 'b', 95 * KB)).toBe('503 service_unavailable');
    expect(await hold(intake, 'b', 60 * KB)).toBe('taken');
  });

  it('nobody can have so many under way that others have none', async () => {
    const intake = new BodyIntake({ ...LIMITS, maxRequestsPerSender: 60 }, () => 0);
    for (const sender of ['a', 'b', 'c', 'd']) {
      for (let i = 0; i < 60; i += 1) void codeOf(intake.read(request(), sender));
    }
    expect(intake.load.requests).toBeLessThan(85);
    expect(await hold(intake, 'e', KB)).toBe('taken');
  });

  it('more requests than allowed: silent ones give way', async () => {
    let now = 0;
    const intake = new BodyIntake(LIMITS, () => now);
    const silent = Array.from({ length: 6 }, () => codeOf(intake.read(request(), 'a')));
    expect(await codeOf(intake.read(request(), 'a'))).toBe('429 rate_limited');
    now = 2_000;
    const req = request();
    const reading = codeOf(intake.read(req, 'a'));
    req.end('x');
    expect(await reading).toBe('taken');
    expect(await Promise.race(silent)).toBe('408 request_timeout');
  });

  it('a body that trickles is cut off, and one that takes too long', async () => {
    jest.useFakeTimers();
    let now = 0;
    const intake = new BodyIntake(LIMITS, () => now);
    const [trickling, steady] = [request(), request()];
    const ends = [codeOf(intake.read(trickling, 'a')), codeOf(intake.read(steady, 'b'))];
    for (let second = 1; second <= 31; second++) {
      trickling.emit('data', Buffer.alloc(10));
      steady.emit('data', Buffer.alloc(2 * KB));
      now = second * 1_000;
      jest.advanceTimersByTime(1_000);
      if (second === 7) expect(intake.load.requests).toBe(1);
    }
    expect(await Promise.all(ends)).toEqual(['408 request_timeout', '408 request_timeout']);
    expect(intake.load).toEqual({ bytes: 0, requests: 0 });
  });

  it('time in which the process stood still is not counted against a sender', async () => {
    jest.useFakeTimers();
    let now = 0;
    const intake = new BodyIntake(LIMITS, () => now);
    const req = request();
    const body = codeOf(intake.read(req, 'a'));
    now = 60_000;
    jest.advanceTimersByTime(1_000);
    req.emit('data', Buffer.alloc(KB));
    req.emit('end');
    expect(await body).toBe('taken');
  });
});
