import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError } from '@ecf/service-kit';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { BodyIntake, type IntakeLimits } from '../src/body-intake.js';

const KB = 1024;
const LIMITS: IntakeLimits = {
  maxBytes: 100 * KB,
  maxHeldBytes: 300 * KB,
  maxHeldBytesPerSender: 200 * KB,
  maxRequests: 10,
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
  it('a body in chunks of one byte keeps none of them: it takes the memory that is counted for it', async () => {
    const size = 64 * KB;
    const intake = new BodyIntake({
      ...LIMITS,
      maxBytes: 2 * size,
      maxHeldBytes: 9 * size,
      maxHeldBytesPerSender: 9 * size,
    });
    const req = request();
    const reading = intake.read(req, 'a');
    // What is kept of a chunk would show what the chunk becomes.
    const chunk = Buffer.alloc(1);
    for (let sent = 0; sent < size; sent += 1) {
      chunk[0] = sent % 251;
      req.emit('data', chunk);
    }
    expect(intake.load.bytes).toBeLessThanOrEqual(2 * size);
    req.emit('end');
    const { bytes } = await reading;
    expect(bytes.equals(Buffer.from(Array.from({ length: size }, (_, at) => at % 251)))).toBe(true);
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
    expect([await reading, sent]).toEqual(['400 bad_request', 64 * KB + 1]);
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

  it('the slowest body gives way to one that needs its place', async () => {
    let now = 0;
    const intake = new BodyIntake(LIMITS, () => now);
    const slow = request();
    const slowed = codeOf(intake.read(slow, 'slow'));
    slow.write(Buffer.alloc(20 * KB));
    await settle();
    now = 10_000;
    const ends: Promise<string>[] = [];
    for (const sender of ['a', 'b', 'c']) {
      const req = request();
      ends.push(codeOf(intake.read(req, sender)));
      req.end(Buffer.alloc(95 * KB));
    }
    expect(await slowed).toBe('408 request_timeout');
    expect(await Promise.all(ends)).toEqual(['taken', 'taken', 'taken']);
  });

  it('where none is slow the newcomer is refused', async () => {
    const intake = new BodyIntake(LIMITS, () => 0);
    const ends: Promise<string>[] = [];
    for (const sender of ['a', 'b', 'c', 'd']) {
      const req = request();
      ends.push(codeOf(intake.read(req, sender)));
      req.end(Buffer.alloc(95 * KB));
    }
    expect(await Promise.all(ends)).toEqual(['taken', 'taken', 'taken', '503 service_unavailable']);
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
