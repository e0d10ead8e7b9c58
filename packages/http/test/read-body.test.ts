import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { ApiError } from '@ecf/kit';
import { expect, it } from '@jest/globals';
import { readBody } from '../src/body/read-body.js';

const KB = 1024;
const LIMITS = { maxBytes: 100 * KB, timeoutMs: 30_000 };

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
  return 'read';
}

it('a body that arrives in pieces is read', async () => {
  const req = request();
  const body = readBody(req, LIMITS);
  req.write('one ');
  req.end('two');
  expect((await body).toString()).toBe('one two');
});

it('a body is refused before it is read if the headers declare it too large or compressed', async () => {
  expect(await codeOf(readBody(request({ 'content-length': '999999' }), LIMITS))).toBe('413 body_too_large');
  expect(await codeOf(readBody(request({ 'content-encoding': 'gzip' }), LIMITS))).toBe('415 unsupported_media_type');
});

it('a body that turns out too large is refused', async () => {
  const req = request();
  const code = codeOf(readBody(req, LIMITS));
  req.write(Buffer.alloc(60 * KB));
  req.write(Buffer.alloc(60 * KB));
  expect(await code).toBe('413 body_too_large');
});

it('a read rejects if the connection is lost, also before the body is read', async () => {
  const req = request();
  const code = codeOf(readBody(req, LIMITS));
  req.write(Buffer.alloc(KB));
  req.destroy();
  expect(await code).toBe('400 bad_request');
  expect(await codeOf(readBody(req, LIMITS))).toBe('400 bad_request');
});

it('a body of too many chunks of one byte is refused', async () => {
  const req = request();
  const code = codeOf(readBody(req, LIMITS));
  for (let sent = 0; sent <= 16 * KB; sent += 1) req.emit('data', Buffer.alloc(1));
  expect(await code).toBe('400 bad_request');
});

it('a body that does not arrive in time is cut off', async () => {
  const req = request();
  const code = codeOf(readBody(req, { ...LIMITS, timeoutMs: 50 }));
  req.write('slow');
  expect(await code).toBe('408 request_timeout');
});
