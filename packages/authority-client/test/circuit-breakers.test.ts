import { describe, expect, it } from '@jest/globals';
import { authorityEndpoints, createAuthorityClient } from '../src/index.js';
import { createCircuitBreakers, type Health } from '../src/transport/circuit-breakers.js';
import { httpAnswer, startRawServer } from './raw-server.js';

function scene(options: Parameters<typeof createCircuitBreakers>[0]['options'] = {}) {
  let now = 0;
  const settings = { failures: 3, openMs: 1_000, maxOpenMs: 4_000, maxPauseMs: 60_000, ...options };
  const circuits = createCircuitBreakers({ options: settings, elapsed: () => now });
  /** Runs a call that ends when the promise does; returns the milliseconds to wait if it may not be made. */
  async function run(ending: Promise<Health>, pauseMs: number | null = null, peer = 'a'): Promise<number | 'went'> {
    const result = await circuits.run(peer, async () => ({ value: 1, health: await ending, pauseMs }));
    return 'value' in result ? 'went' : result.retryAfterMs;
  }
  return {
    circuits,
    later: (ms: number) => {
      now += ms;
    },
    run,
    call: (health: Health, pauseMs: number | null = null, peer = 'a') => run(Promise.resolve(health), pauseMs, peer),
    async calls(...healths: Health[]) {
      for (const health of healths) await run(Promise.resolve(health));
    },
  };
}

const DOCUMENT = { issuerRnc: '101672919', encf: 'E310000000001' } as const;

describe('a circuit breaker', () => {
  it('opens after failures in a row, and for that peer alone', async () => {
    const { call, calls, circuits } = scene();
    await calls('failing', 'failing');
    expect(await call('failing')).toBe('went');
    expect(await call('failing')).toBe(1_000);
    expect([circuits.waitMs('a'), circuits.waitMs('b'), [...circuits.waiting()]]).toEqual([1_000, 0, [['a', 1_000]]]);
    expect(await call('healthy', null, 'b')).toBe('went');
  });

  it('stays closed while something succeeds in between; neutral calls do not count', async () => {
    const { call, calls, circuits } = scene();
    await calls('failing', 'failing', 'healthy', 'failing', 'neutral', 'failing', 'neutral');
    expect([await call('neutral'), circuits.waiting().size]).toEqual(['went', 0]);
    await calls('failing');
    expect(await call('healthy')).toBe(1_000);
  });

  it('admits one probe after the pause, and doubles the pause while probes fail', async () => {
    const { call, calls, run, later } = scene();
    await calls('failing', 'failing', 'failing');
    later(1_000);
    let end: (health: Health) => void = () => undefined;
    const probe = run(new Promise((resolve) => (end = resolve)));
    expect(await call('healthy')).toBe(1_000);
    end('failing');
    expect(await probe).toBe('went');
    expect(await call('healthy')).toBe(2_000);
    later(2_000);
    expect(await call('failing')).toBe('went');
    later(4_000);
    expect(await call('failing')).toBe('went');
    expect(await call('healthy')).toBe(4_000);
    later(4_000);
    await calls('healthy', 'healthy', 'failing', 'failing', 'failing');
    expect(await call('healthy')).toBe(1_000);
  });

  it('admits the next probe if one had no result', async () => {
    const { call, calls, later } = scene();
    await calls('failing', 'failing', 'failing');
    later(1_000);
    expect(await call('neutral')).toBe('went');
    expect(await call('failing')).toBe('went');
    expect(await call('healthy')).toBe(2_000);
  });

  it('obeys Retry-After immediately, up to its limit', async () => {
    const { call, later, circuits } = scene();
    expect(await call('neutral', 5_000)).toBe('went');
    expect([await call('healthy'), [...circuits.waiting()]]).toEqual([5_000, [['a', 5_000]]]);
    later(5_000);
    expect(await call('neutral', 86_400_000)).toBe('went');
    expect(await call('healthy')).toBe(60_000);
  });

  it('bounds the calls in flight', async () => {
    const { call, run } = scene({ maxInFlight: 2 });
    let end: (health: Health) => void = () => undefined;
    const ended = new Promise<Health>((resolve) => (end = resolve));
    const inFlight = [run(ended), run(ended)];
    expect(await call('healthy')).toBe(100);
    expect(await call('healthy', null, 'b')).toBe('went');
    end('healthy');
    expect(await Promise.all(inFlight)).toEqual(['went', 'went']);
    expect(await call('healthy')).toBe('went');
  });
});

describe('the client with circuit breakers', () => {
  it('answers unknown, not reached, with the time to wait, and sends nothing', async () => {
    const server = await startRawServer((_, socket) => socket.destroy());
    let now = 0;
    let hours = 0;
    const client = createAuthorityClient({
      endpoints: authorityEndpoints(server.url),
      userAgent: 'test',
      circuit: { failures: 2, openMs: 1_500 },
      clock: () => new Date(Date.parse('2026-06-23T12:00:00Z') + 3_600_000 * hours),
      elapsed: () => now,
    });
    const query = { env: 'TesteCF', token: 't', trackId: 'x', ...DOCUMENT } as const;
    await client.queryResult(query);
    await client.queryResult({ ...query, trackId: 'y' });
    expect(await client.queryResult(query)).toEqual({
      outcome: 'unknown',
      cause: 'circuit_open',
      reachedAuthority: 'no',
      retryAfterMs: 1_500,
      detail: expect.any(String),
      raw: null,
    });
    expect(server.requests).toHaveLength(2);
    expect([client.isUnreachable('TesteCF', 'recepcion'), client.isUnreachable('TesteCF', 'recepcionfc')]).toEqual([
      true,
      false,
    ]);
    // Another environment and another host are not affected.
    await client.queryResult({ ...query, env: 'eCF' });
    await client.queryConsumerSummary({ env: 'TesteCF', token: 't', ...DOCUMENT, securityCode: 'abcdef' });
    expect(server.requests).toHaveLength(4);
    // A changed clock neither opens nor closes it.
    for (hours of [-10, 10]) await client.queryResult(query);
    expect(server.requests).toHaveLength(4);
    hours = -20;
    now += 1_500;
    await client.queryResult(query);
    expect(server.requests).toHaveLength(5);
    client.close();
    await server.stop();
  });

  it('does not open for one document that fails again and again, nor for answers that are not 502 to 504', async () => {
    let status = '503 Service Unavailable';
    const server = await startRawServer((_, socket) => socket.write(httpAnswer(status, null, '')));
    const client = createAuthorityClient({
      endpoints: authorityEndpoints(server.url),
      userAgent: 'test',
      circuit: { failures: 2 },
    });
    const send = (sequence: number) =>
      client.submitDocument({ env: 'eCF', token: 't', ...DOCUMENT, encf: `E31000000000${sequence}`, xml: '<a/>' });
    for (let i = 0; i < 4; i += 1) await send(1);
    expect(client.isUnreachable('eCF', 'recepcion')).toBe(false);
    status = '500 Internal Server Error';
    await send(2);
    status = '502 Bad Gateway';
    await send(2);
    expect(client.isUnreachable('eCF', 'recepcion')).toBe(false);
    await send(3);
    expect(client.isUnreachable('eCF', 'recepcion')).toBe(true);
    client.close();
    await server.stop();
  });

  it('probes while the authority announces maintenance, names its end, and continues where the announcement is wrong', async () => {
    const server = await startRawServer((_, socket) => socket.write(httpAnswer('400 Bad Request', null, '')));
    const client = createAuthorityClient({
      endpoints: authorityEndpoints(server.url),
      userAgent: 'test',
      clock: () => new Date('2026-06-23T12:00:00Z'),
    });
    const ask = () => client.queryResult({ env: 'TesteCF', token: 't', trackId: 'x', ...DOCUMENT });
    await client.expectMaintenance('TesteCF', new Date('2026-06-23T16:00:00Z'));
    expect([client.isUnreachable('TesteCF', 'recepcion'), client.isUnreachable('eCF', 'recepcion')]).toEqual([
      true,
      false,
    ]);
    const [, beside] = await Promise.all([ask(), ask()]);
    expect(beside).toMatchObject({
      cause: 'circuit_open',
      detail: expect.stringContaining('announced maintenance until 2026-06-23T12:00:00-04:00'),
    });
    expect(server.requests).toHaveLength(1);
    await ask();
    expect([server.requests.length, client.isUnreachable('TesteCF', 'recepcion')]).toEqual([2, false]);
    client.close();
    await server.stop();
  });

  it('does not open for answers that are only about a document', async () => {
    const server = await startRawServer((_, socket) => socket.write(httpAnswer('400 Bad Request', null, '')));
    const client = createAuthorityClient({
      endpoints: authorityEndpoints(server.url),
      userAgent: 'test',
      circuit: { failures: 2 },
    });
    for (let i = 0; i < 5; i += 1) await client.queryResult({ env: 'TesteCF', token: 't', trackId: 'x', ...DOCUMENT });
    expect(server.requests).toHaveLength(5);
    client.close();
    await server.stop();
  });
});
