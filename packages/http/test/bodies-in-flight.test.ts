import { ApiError } from '@ecf/kit';
import { beginPost, chunkOf, type OpenRequest } from '@ecf/test-support/raw-posts';
import { CALLER_HEADER, silentLogger, trustCallerHeader } from '@ecf/test-support/services';
import { afterEach, expect, it } from '@jest/globals';
import {
  type BodiesInFlight,
  type BodySender,
  createBodiesInFlight,
  holdingBody,
} from '../src/body/bodies-in-flight.js';
import { readBody } from '../src/body/read-body.js';
import { createHttpApp } from '../src/http-app.js';
import { type RunningServer, serve } from '../src/http-server.js';

const MEBIBYTE = 1024 * 1024;
const KIBIBYTE = 1024;
const account = (n: number) => ({ name: `account ${n}`, isStranger: false });
const sender = (n: number) => ({ name: `sender ${n}`, isStranger: true });

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.headers['retry-after']}`;
    throw error;
  }
  return 'held';
}

/** Begins bodies of a mebibyte, overhead included, until one is refused. Returns how many are held, and the refusal. */
function fill(bodies: BodiesInFlight, of: BodySender): [held: number, refused: string] {
  for (let held = 0; ; held += 1) {
    const code = codeOf(() => bodies.begin(of).hold(MEBIBYTE - 16 * KIBIBYTE));
    if (code !== 'held') return [held, code];
  }
}

it('the budget of bodies gives one account a quarter, one stranger an eighth, and all strangers together a half', () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 32 * MEBIBYTE });
  expect(fill(bodies, sender(1))).toEqual([4, '429 rate_limited 5']);
  for (const n of [2, 3, 4]) expect(fill(bodies, sender(n))[0]).toBeGreaterThanOrEqual(3);
  const used = bodies.bytes();
  expect(fill(bodies, sender(5))[1]).toBe('503 overloaded 5');
  expect(bodies.bytes() - used).toBeLessThan(MEBIBYTE);
  expect(bodies.bytes()).toBeLessThanOrEqual(16 * MEBIBYTE);
  expect(fill(bodies, account(1))[1]).toBe('429 rate_limited 5');
  expect(fill(bodies, account(2))[0]).toBeGreaterThan(0);
  fill(bodies, account(3));
  expect(codeOf(() => bodies.begin(account(4)).hold(2 * MEBIBYTE))).toBe('503 overloaded 5');
  expect(bodies.bytes()).toBeLessThanOrEqual(32 * MEBIBYTE);
});

it('the budget of bodies gives one API key four fifths of the share of its account', () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 40 * MEBIBYTE });
  expect(fill(bodies, { ...account(1), key: 'key 1' })).toEqual([8, '429 rate_limited 5']);
  expect(fill(bodies, { ...account(1), key: 'key 2' })[0]).toBeGreaterThan(0);
  const held = bodies.begin({ ...account(2), key: 'key 3' });
  held.hold(8 * MEBIBYTE - 16 * KIBIBYTE);
  held.end();
  expect(fill(bodies, { ...account(2), key: 'key 3' })[0]).toBe(8);
});

it('the budget of bodies frees the bytes of a body once, however often the body is ended', () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 32 * MEBIBYTE });
  const [first, second] = [bodies.begin(account(1)), bodies.begin(account(1))];
  first.hold(3 * MEBIBYTE);
  first.hold(MEBIBYTE);
  second.hold(MEBIBYTE);
  expect(bodies.bytes()).toBe(2 * MEBIBYTE + 32 * KIBIBYTE);
  first.end();
  first.end();
  first.hold(MEBIBYTE);
  expect(bodies.bytes()).toBe(MEBIBYTE + 16 * KIBIBYTE);
  second.end();
  expect(bodies.bytes()).toBe(0);
});

it('the budget of bodies holds two of the largest bodies in the smallest share', () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: MEBIBYTE, MAX_BODY_BYTES: 100 * MEBIBYTE });
  bodies.begin(sender(1)).hold(100 * MEBIBYTE);
  expect(codeOf(() => bodies.begin(sender(1)).hold(99 * MEBIBYTE))).toBe('held');
});

it('the budget of bodies lets one account make two hundred calls of 32 KiB at the same time by default', () => {
  const bodies = createBodiesInFlight();
  for (let n = 0; n < 200; n += 1) bodies.begin(account(1)).hold(32 * KIBIBYTE);
  expect(bodies.bytes()).toBe(200 * 48 * KIBIBYTE);
});

let server: RunningServer | null = null;
const open: OpenRequest[] = [];
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await server?.stop();
  server = null;
});

/** Serves a route that reads its body with `handle` afterwards. */
async function start(bodies: BodiesInFlight, handle: (body: Buffer) => Promise<void>): Promise<void> {
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 10 * MEBIBYTE,
    bodies,
    routes: (routes) =>
      routes.post(
        '/',
        holdingBody(async (req, res) => {
          await handle(await readBody(req));
          res.json({ code: 'read' });
        }),
      ),
  });
  server = await serve(trustCallerHeader(app), { host: '127.0.0.1', port: 0, timeouts: { drain: 100 } });
}

function post(of: object, wire: string): OpenRequest {
  const request = beginPost(server?.url ?? '', { [CALLER_HEADER]: JSON.stringify(of) }, wire);
  open.push(request);
  return request;
}

const stranger = (address: string) => ({ kind: 'public', env: 'TesteCF', sender: address, request_id: '' });

it('the budget of bodies counts bytes as they arrive, not as announced, and lets others in beside a full share', async () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 8 * MEBIBYTE });
  await start(bodies, async () => undefined);
  // Half-open: the chunk announces more than has come.
  const large = 'x'.repeat(300 * KIBIBYTE);
  const first = [1, 2, 3, 4].map(() => post(stranger('203.0.113.1'), `${(MEBIBYTE).toString(16)}\r\n${large}`));
  const refused = await Promise.race(first.map((request) => request.answer()));
  expect(refused).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(refused.head).toMatch(/retry-after: 5/i);
  expect(bodies.bytes()).toBeLessThanOrEqual(MEBIBYTE);
  expect(await post(stranger('203.0.113.2'), `${chunkOf('a document')}0\r\n\r\n`).answer()).toMatchObject({
    status: 200,
  });
  for (const { socket } of first) socket.destroy();
  while (bodies.bytes() > 0) await new Promise((resolve) => setImmediate(resolve));
});

it('the budget of bodies bounds sixty half-open bodies of strangers by its half', async () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 8 * MEBIBYTE });
  await start(bodies, async () => undefined);
  const large = `${(10 * MEBIBYTE).toString(16)}\r\n${'x'.repeat(400 * KIBIBYTE)}`;
  const requests = Array.from({ length: 60 }, (_, n) => post(stranger(`203.0.113.${n}`), large));
  const most = 4 * MEBIBYTE;
  let refused = 0;
  for (const request of requests) void request.answer().then(({ code }) => (refused += code === 'overloaded' ? 1 : 0));
  while (refused < 60 - Math.floor(most / (416 * KIBIBYTE))) {
    expect(bodies.bytes()).toBeLessThanOrEqual(most);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(bodies.bytes()).toBeLessThanOrEqual(most);
});

it('the connection of a refused body that continues is closed', async () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: MEBIBYTE });
  await start(bodies, async () => undefined);
  const request = post(stranger('203.0.113.1'), chunkOf('x'.repeat(200 * KIBIBYTE)));
  expect(await request.answer()).toMatchObject({ status: 429 });
  await request.closed;
});

it('the budget of bodies holds the bytes of a body while its handler works, also when the caller has left', async () => {
  const bodies = createBodiesInFlight();
  let settle: () => void = () => undefined;
  const begun = new Promise<void>((isBegun) => {
    void start(bodies, () => {
      isBegun();
      return new Promise((resolve) => {
        settle = resolve;
      });
    });
  });
  while (server === null) await new Promise((resolve) => setImmediate(resolve));
  const request = post(stranger('203.0.113.1'), `${chunkOf('x'.repeat(100))}0\r\n\r\n`);
  await begun;
  request.socket.destroy();
  await request.closed;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(bodies.bytes()).toBe(16 * KIBIBYTE + 100);
  settle();
  while (bodies.bytes() > 0) await new Promise((resolve) => setImmediate(resolve));
});

it('the budget of bodies does not count bodies of other services', async () => {
  const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: MEBIBYTE });
  let during = -1;
  await start(bodies, async () => {
    during = bodies.bytes();
  });
  const request = post(
    { kind: 'service', service: 'query', request_id: '' },
    `${chunkOf('x'.repeat(MEBIBYTE))}0\r\n\r\n`,
  );
  expect(await request.answer()).toMatchObject({ status: 200, code: 'read' });
  expect(during).toBe(0);
});
