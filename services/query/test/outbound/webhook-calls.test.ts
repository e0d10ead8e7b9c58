import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWebhookCalls } from '../../src/webhooks/webhook-calls.http.js';

const SECRETS = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
const MIB = 1_048_576;
const BLOCK = Buffer.alloc(65_536, 'x');
const TIMEOUTS = { connectMs: 200, responseMs: 400, totalMs: 600 };

let server: Server;
let url: string;
let attack: (socket: Socket) => void = () => undefined;
/** Bytes that left for the caller. */
let written = 0;
const sockets = new Set<Socket>();
const calls = createWebhookCalls({ allowPrivate: true, clock: () => new Date(), timeouts: TIMEOUTS });

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      written += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once('data', () => attack(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  calls.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Writes without end, as fast as the caller reads. */
function endless(socket: Socket, block: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', more);
  more();
}
/** Writes a little now and then, so that no pause is long. */
function dripping(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.once('close', () => clearInterval(timer));
}
async function attacked(by: (socket: Socket) => void) {
  attack = by;
  written = 0;
  const result = await calls.call({ url, secrets: SECRETS }, { id: '1-00000000' });
  while (sockets.size > 0 && result.status === null) await new Promise((resolve) => setTimeout(resolve, 5));
  return { ...result, written };
}

describe('a call of a webhook', () => {
  it.each<[string, (socket: Socket) => void]>([
    [
      'an answer of a gigabyte',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n');
        endless(socket, BLOCK);
      },
    ],
    [
      'a compressed answer of a gigabyte',
      (socket) => {
        const zeros = gzipSync(Buffer.alloc(64 * MIB));
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n');
        for (let part = 0; part < 16; part += 1) socket.write(zeros);
      },
    ],
    [
      'headers without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        endless(socket, BLOCK);
      },
    ],
    [
      'interim answers without end',
      (socket) => endless(socket, Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100))),
    ],
    ['no answer', () => undefined],
    ['headers that drip', (socket) => dripping(socket, socket.bytesWritten === 0 ? 'HTTP/1.1 200 OK\r\nx: ' : 'y')],
    [
      'an answer that drips',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n');
        dripping(socket, 'y');
      },
    ],
    ['something else than HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['a connection that breaks', (socket) => socket.resetAndDestroy()],
  ])('ends as failed, after a bounded number of bytes, on %s', async (_name, by) => {
    const { status, error, written } = await attacked(by);
    expect([status, typeof error]).toEqual([null, 'string']);
    expect(written).toBeLessThan(32 * MIB);
  });

  it.each([200, 204, 301, 307, 410, 500])('reports the status %s, and follows no redirect', async (status) => {
    let requests = 0;
    const result = await attacked((socket) => {
      requests += 1;
      socket.end(
        `HTTP/1.1 ${status} Status\r\nlocation: ${url}elsewhere\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      );
    });
    expect([result.status, result.error, requests]).toEqual([status, null, 1]);
  });
});
