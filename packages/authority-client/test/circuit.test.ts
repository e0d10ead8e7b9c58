import { describe, expect, it } from '@jest/globals';
import { authorityEndpoints, createAuthorityClient } from '../src/index.js';
import { createCircuit, type Health } from '../src/transport/circuit.js';
import { httpAnswer, startRawServer } from './raw-server.js';

function scene(options: Parameters<typeof createCircuit>[0] = {}) {
  let now = 0;
  const settings = { failures: 3, openMs: 1_000, maxOpenMs: 4_000, maxPauseMs: 60_000, ...options };
  const circuit = createCircuit(settings, () => now);
  return {
    later: (ms: number) => {
      now += ms;
    },
    enter: (key = 'a') => circuit.enter(key),
    /** One call that ends at once; the milliseconds to wait where it may not go. */
    call(health: Health, retryAfterMs: number | null = null, key = 'a'): number | 'went' {
      const admission = circuit.enter(key);
      if ('waitMs' in admission) return admission.waitMs;
      admission.leave(health, retryAfterMs);
      return 'went';
    },
  };
}

const DOCUMENT = { issuerRnc: '101672919', encf: 'E310000000001' } as const;

describe('a circuit', () => {
  it('opens after failures in a row, and for that key alone', () => {
    const { call } = scene();
    expect([call('failing'), call('failing'), call('failing'), call('failing')]).toEqual([
      'went',
      'went',
      'went',
      1_000,
    ]);
    expect(call('healthy', null, 'b')).toBe('went');
  });

  it('stays closed while something succeeds in between', () => {
    const { call } = scene();
    for (const health of ['failing', 'failing', 'healthy', 'failing', 'failing', 'neutral'] as const) call(health);
    expect(call('healthy')).toBe('went');
  });

  it('lets one call try after the pause, and doubles the pause while that fails', () => {
    const { call, enter, later } = scene();
    for (let i = 0; i < 3; i += 1) call('failing');
    later(1_000);
    const probe = enter();
    expect(call('healthy')).toBe(1_000);
    if ('leave' in probe) probe.leave('failing', null);
    expect(call('healthy')).toBe(2_000);
    later(2_000);
    expect(call('failing')).toBe('went');
    later(4_000);
    expect(call('failing')).toBe('went');
    expect(call('healthy')).toBe(4_000);
    later(4_000);
    expect(call('healthy')).toBe('went');
    expect(call('healthy')).toBe('went');
    for (let i = 0; i < 3; i += 1) call('failing');
    expect(call('healthy')).toBe(1_000);
  });

  it('a probe that says nothing lets the next one try', () => {
    const { call, later } = scene();
    for (let i = 0; i < 3; i += 1) call('failing');
    later(1_000);
    expect(call('neutral')).toBe('went');
    expect(call('healthy')).toBe('went');
  });

  it('obeys Retry-After at once, up to its limit', () => {
    const { call, later } = scene();
    expect(call('neutral', 5_000)).toBe('went');
    expect(call('healthy')).toBe(5_000);
    later(5_000);
    expect(call('neutral', 86_400_000)).toBe('went');
    expect(call('healthy')).toBe(60_000);
  });
});

describe('the client with a circuit', () => {
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
    await client.queryResult(query);
    expect(await client.queryResult(query)).toEqual({
      outcome: 'unknown',
      cause: 'circuit_open',
      reachedAuthority: 'no',
      retryAfterMs: 1_500,
      detail: expect.any(String),
      raw: null,
    });
    expect(server.requests).toHaveLength(2);
    // Another environment and another service are not concerned.
    await client.queryResult({ ...query, env: 'eCF' });
    await client.requestSeed({ env: 'TesteCF' });
    expect(server.requests).toHaveLength(4);
    // A clock that is set neither opens nor closes it.
    for (hours of [-10, 10]) await client.queryResult(query);
    expect(server.requests).toHaveLength(4);
    hours = -20;
    now += 1_500;
    await client.queryResult(query);
    expect(server.requests).toHaveLength(5);
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
