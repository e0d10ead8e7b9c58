import type { IncomingMessage } from 'node:http';
import { ApiError, tooManyTinyChunks } from '@ecf/service-kit/http';
import { FairShare } from './fair-share.js';

export interface IntakeLimits {
  /** Longest body in bytes. */
  readonly maxBytes: number;
  /** Bytes of unfinished and unanswered bodies that are held at once, all senders together. */
  readonly maxHeldBytes: number;
  /** The most of that which one sender may hold; how much it is beside others, {@link FairShare} says. */
  readonly maxHeldBytesPerSender: number;
  /** Requests of one sender whose body is arriving or which are being answered. */
  readonly maxRequestsPerSender: number;
  /** Requests of all senders of that kind. */
  readonly maxRequests: number;
  /** Milliseconds for a whole body. */
  readonly timeoutMs: number;
  /** Bytes per second that a body must bring after its first {@link GRACE_MS}. */
  readonly minRate: number;
}

/** A body that is held; `release` when its answer is made. */
export interface HeldBody {
  readonly bytes: Buffer;
  release(): void;
}

/** Events after which nothing more of a body comes. */
const LOST = ['aborted', 'close', 'error'] as const;
const GRACE_MS = 5_000;
const LOOK_MS = 1_000;
/** Bytes per second below which a body gives way to another one that needs its place. */
const SLOW_RATE = 64 * 1024;
/** Room that a body gets to begin with; chunks are copied into it, however small they are. */
const FIRST_ROOM = 4 * 1024;

interface Reading {
  readonly sender: string;
  startedAt: number;
  /** Bytes that arrived. */
  arrived: number;
  /** Bytes of memory that are held for them. */
  held: number;
  refuse: ((error: ApiError) => void) | null;
}

/**
 * Reads bodies into memory under bounds on size, time, rate, and on what one sender and all of them hold. What is counted
 * is the memory that a body takes, whatever the pieces are that it comes in. Where one needs more than its share, the body
 * that brought the least for its time gives way: a slow sender holds nothing that others need. What is complete stays, so
 * senders hold shares that leave room for others ({@link FairShare}).
 */
export class BodyIntake {
  readonly #readings = new Set<Reading>();
  readonly #bytes: FairShare;
  readonly #requests: FairShare;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: IntakeLimits,
    /** Milliseconds of a clock that never goes back. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    this.#bytes = new FairShare({ all: limits.maxHeldBytes, perSender: limits.maxHeldBytesPerSender });
    this.#requests = new FairShare({ all: limits.maxRequests, perSender: limits.maxRequestsPerSender });
  }

  /** Bytes held at present, and requests that hold them. */
  get load(): { bytes: number; requests: number } {
    return { bytes: this.#bytes.total, requests: this.#requests.total };
  }

  /** Reads the whole body. Rejects with the ApiError to answer; the connection is closed then, as the rest is not read. */
  async read(req: IncomingMessage, sender: string): Promise<HeldBody> {
    this.#admit(req, sender);
    const reading: Reading = { sender, startedAt: this.elapsed(), arrived: 0, held: 0, refuse: null };
    this.#readings.add(reading);
    this.#requests.change(sender, 1);
    this.#timer ??= this.#watch();
    return { bytes: await this.#collect(req, reading), release: () => this.#release(reading) };
  }

  #release(reading: Reading): void {
    if (!this.#readings.delete(reading)) return;
    this.#hold(reading, -reading.held);
    this.#requests.change(reading.sender, -1);
  }

  #admit(req: IncomingMessage, sender: string): void {
    const encoding = req.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      throw new ApiError(415, 'unsupported_media_type', 'Send the body without content encoding.');
    }
    if (Number(req.headers['content-length'] ?? 0) > this.limits.maxBytes) throw this.#tooLarge();
    const over = this.#requests.tooMuch(sender, 1);
    if (over === null || this.#giveWay(({ sender: holder }) => this.#requests.givesWay(holder, sender, 1))) return;
    throw over === 'sender' ? tooMany() : busy();
  }

  #collect(req: IncomingMessage, reading: Reading): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const most = longestOf(req, this.limits.maxBytes);
      let room = Buffer.alloc(0);
      let chunks = 0;
      const stop = () => {
        req.off('data', onData).off('end', onEnd);
        for (const lost of LOST) req.off(lost, onClose);
        reading.refuse = null;
      };
      const refuse = (error: ApiError) => {
        stop();
        room = Buffer.alloc(0);
        req.pause();
        this.#release(reading);
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        const needed = reading.arrived + chunk.length;
        if (needed > this.limits.maxBytes) return refuse(this.#tooLarge());
        chunks += 1;
        const tiny = tooManyTinyChunks(chunks, needed);
        if (tiny !== null) return refuse(tiny);
        if (needed > room.length) {
          const larger = Math.max(needed, Math.min(Math.max(2 * room.length, FIRST_ROOM), most));
          const problem = this.#makeRoom(reading, larger);
          if (problem !== null) return refuse(problem);
          if (reading.refuse === null) return;
          this.#hold(reading, larger);
          const grown = Buffer.allocUnsafeSlow(larger);
          room.copy(grown, 0, 0, reading.arrived);
          this.#hold(reading, -room.length);
          room = grown;
        }
        chunk.copy(room, reading.arrived);
        reading.arrived = needed;
      };
      const onEnd = () => {
        stop();
        const bytes = room.length === reading.arrived ? room : Buffer.from(room.subarray(0, reading.arrived));
        this.#hold(reading, bytes.length - reading.held);
        resolve(bytes);
      };
      const onClose = () => {
        stop();
        this.#release(reading);
        reject(new ApiError(400, 'bad_request', 'The connection was lost before the body was complete.'));
      };
      reading.refuse = refuse;
      if (req.destroyed && !req.readableEnded) return onClose();
      req.on('data', onData).on('end', onEnd);
      for (const lost of LOST) req.on(lost, onClose);
    });
  }

  /** Null where `bytes` more may be held, if need be after slower bodies gave way. */
  #makeRoom(reading: Reading, bytes: number): ApiError | null {
    const { sender } = reading;
    for (;;) {
      const over = this.#bytes.tooMuch(sender, bytes);
      if (over === null) return null;
      const mayGo = (other: Reading) => other.held > 0 && this.#bytes.givesWay(other.sender, sender, bytes);
      if (!this.#giveWay(mayGo) || reading.refuse === null) return over === 'sender' ? tooMany() : busy();
    }
  }

  /** Ends the slowest of those bodies that are still arriving; false where none is slow. */
  #giveWay(mayGo: (reading: Reading) => boolean): boolean {
    let slowest: Reading | null = null;
    let lowest = SLOW_RATE / 1000;
    const now = this.elapsed();
    for (const reading of this.#readings) {
      const age = now - reading.startedAt;
      if (reading.refuse === null || age < LOOK_MS || !mayGo(reading)) continue;
      const rate = reading.arrived / age;
      if (rate < lowest) [slowest, lowest] = [reading, rate];
    }
    slowest?.refuse?.(tooSlow());
    return slowest !== null;
  }

  /** Looks each second for bodies that take too long or bring too little. Time in which this process stood still is ours. */
  #watch(): NodeJS.Timeout {
    let due = this.elapsed() + LOOK_MS;
    const timer = setInterval(() => {
      const now = this.elapsed();
      const stoodStill = Math.max(0, now - due);
      due = now + LOOK_MS;
      for (const reading of [...this.#readings]) {
        reading.startedAt = Math.min(reading.startedAt + stoodStill, now);
        const age = now - reading.startedAt;
        const late = age > this.limits.timeoutMs;
        const slow = age > GRACE_MS && reading.arrived < (this.limits.minRate * age) / 1000;
        if (late || slow) reading.refuse?.(tooSlow());
      }
      if (this.#readings.size === 0) {
        clearInterval(timer);
        this.#timer = undefined;
      }
    }, LOOK_MS);
    timer.unref();
    return timer;
  }

  #hold(reading: Reading, bytes: number): void {
    reading.held += bytes;
    this.#bytes.change(reading.sender, bytes);
  }

  #tooLarge(): ApiError {
    return new ApiError(413, 'body_too_large', `The body is larger than ${this.limits.maxBytes} bytes.`, CLOSE);
  }
}

/** The most bytes that a body can have: what its header says, as far as that can be believed. */
function longestOf(req: IncomingMessage, maxBytes: number): number {
  const declared = Number(req.headers['content-length'] ?? Number.NaN);
  return declared >= 0 && declared < maxBytes ? declared : maxBytes;
}

const CLOSE = { headers: { connection: 'close' } };

function tooSlow(): ApiError {
  return new ApiError(408, 'request_timeout', 'The body did not arrive in time; send it again.', CLOSE);
}

function busy(): ApiError {
  return new ApiError(503, 'service_unavailable', 'Too much is arriving at once; send it again shortly.', CLOSE);
}

function tooMany(): ApiError {
  return new ApiError(429, 'rate_limited', 'This sender has too much under way at once; send it again shortly.', CLOSE);
}
