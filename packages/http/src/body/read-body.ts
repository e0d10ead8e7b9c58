import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { ApiError } from '@ecf/kit';
import type { Request } from 'express';
import { beginBody, dropRest } from './bodies-in-flight.js';
import { boundOf, operationBodyTooLarge, tooManyTinyChunks } from './body-limit.js';

export interface BodyLimits {
  /** Longest body of this operation in bytes, where `limitBody` set no smaller bound. */
  readonly maxBytes?: number;
  /** Milliseconds for the whole body. Without it the time of the server for a whole request counts. */
  readonly timeoutMs?: number;
  /** Makes the error for a body above `maxBytes`. */
  readonly tooLarge?: (max: number) => ApiError;
}

/** The checks that every reader of a body applies. */
interface BodyMeter {
  /** Counts a chunk that arrived. Throws the ApiError to answer if the body is too large or its chunks are too small. */
  count(chunk: Buffer): void;
  /** Sets how many bytes are in memory. Throws 503 or 429 over the budget of bodies in flight or a share of it. */
  hold(bytes: number): void;
}

/**
 * Begins a body. Throws 415 for a content encoding, 413 if the announced length is above the limit, and 503 or 429 if the
 * bodies in flight leave no room for another one.
 */
function measureBody(
  req: IncomingMessage,
  { maxBytes = Number.POSITIVE_INFINITY, tooLarge = operationBodyTooLarge }: BodyLimits,
): BodyMeter {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ApiError(415, 'unsupported_media_type', 'Send the body without content encoding.');
  const bound = boundOf(req, { max: maxBytes, tooLarge });
  if (Number(req.headers['content-length'] ?? 0) > bound.max) throw bound.tooLarge(bound.max);
  const inBudget = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      dropRest(req);
      throw error;
    }
  };
  const body = inBudget(() => beginBody(req));
  let chunks = 0;
  let bytes = 0;
  return {
    hold: (held) => inBudget(() => body?.hold(held)),
    count(chunk) {
      chunks += 1;
      bytes += chunk.length;
      if (bytes > bound.max) throw bound.tooLarge(bound.max);
      const tiny = tooManyTinyChunks(chunks, bytes);
      if (tiny === null) return;
      dropRest(req);
      throw tiny;
    },
  };
}

/**
 * Reads the whole body of a request. Rejects with the ApiError to answer: 413, 415, 400 for tiny chunks or a lost
 * connection, 408, and 503 or 429 over the budget of bodies in flight. The rest of a refused body is dropped as it
 * arrives, so that the sender can read the answer.
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits = {}): Promise<Buffer> {
  const meter = measureBody(req, limits);
  if (req.destroyed && !req.readableEnded) throw lost();
  const { timeoutMs } = limits;
  return new Promise((resolve, reject) => {
    const chunks = new JoinedChunks();
    const stop = () => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('aborted', onLost).off('close', onLost).off('error', onLost);
    };
    const refuse = (error: unknown) => {
      stop();
      req.resume();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        meter.count(chunk);
        chunks.add(chunk);
        meter.hold(chunks.length);
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = () => {
      stop();
      resolve(chunks.join());
    };
    const onLost = () => {
      stop();
      reject(lost());
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => refuse(tooSlow()), timeoutMs);
    req.on('data', onData).on('end', onEnd).on('aborted', onLost).on('close', onLost).on('error', onLost);
  });
}

export interface BodyPieces extends Pick<BodyMeter, 'hold'> {
  /** Each may hold several chunks. They arrive no faster than they are taken. */
  readonly pieces: AsyncIterable<Buffer>;
}

/** Reads a body piece by piece with the checks of {@link readBody}. The reader itself says how many bytes it holds. */
export function readPieces(req: IncomingMessage, limits: BodyLimits = {}): BodyPieces {
  const meter = measureBody(req, limits);
  return { pieces: piecesOf(req, meter), hold: meter.hold };
}

async function* piecesOf(req: IncomingMessage, meter: BodyMeter): AsyncGenerator<Buffer> {
  const passed = new PassThrough();
  const onData = (chunk: Buffer) => {
    try {
      meter.count(chunk);
    } catch (error) {
      passed.destroy(error as Error);
    }
  };
  const onLost = () => {
    if (!req.readableEnded) passed.destroy(lost());
  };
  if (req.destroyed && !req.readableEnded) throw lost();
  req.on('aborted', onLost).on('close', onLost).on('error', onLost).on('data', onData).pipe(passed);
  try {
    for await (const piece of passed) yield piece as Buffer;
  } finally {
    req.off('aborted', onLost).off('close', onLost).off('error', onLost).off('data', onData).unpipe(passed);
    req.resume();
  }
}

/** A chunk takes some 500 bytes beside its content, so small ones are copied together. */
const JOINED_AT = 32;

/** Chunks of a body, whose memory grows with their bytes and not with their number. */
export class JoinedChunks {
  #joined: Buffer[] = [];
  #recent: Buffer[] = [];
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#recent.push(chunk) < JOINED_AT) return;
    this.#joined.push(Buffer.concat(this.#recent));
    this.#recent = [];
  }

  join(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#recent]);
  }
}

/** A request with a body that was read, for parsers that read a request themselves. */
export function requestOf(body: Buffer, headers: IncomingHttpHeaders): Request {
  return Object.assign(Readable.from(body), { headers }) as unknown as Request;
}

function tooSlow(): ApiError {
  const headers = { connection: 'close' };
  return new ApiError(408, 'request_timeout', 'The body did not arrive in time; send it again.', { headers });
}

function lost(): ApiError {
  return new ApiError(400, 'bad_request', 'The body did not arrive completely and was not kept. Send it again.');
}
