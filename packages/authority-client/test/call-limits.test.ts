/** Status 429: who waits for how long, and what a caller learns of it. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { isUnanswered } from '../src/answers/answer.js';
import { authorityEndpoints, createAuthorityClient } from '../src/index.js';
import { httpAnswer, type RawServer, startRawServer } from './raw-server.js';

const RECEIVED = '{"trackId":"d2b6e27c-b6b1-4f5a-9d0e-8a5d3f4b2c10","error":null,"mensaje":null}';
const [ANA, EVA, LEO, SOL] = ['101000001', '101000002', '101000003', '101000004'] as const;

let server: RawServer;
afterEach(() => server.stop());

/** An authority that limits some taxpayers, and a client whose clock the test sets. */
async function authority(retryAfter = '120', limitedRncs: string[] = [ANA]) {
  const limited = new Set(limitedRncs);
  server = await startRawServer(({ body, target }, socket) => {
    const isLimited = [...limited].some((rnc) => target.includes(rnc) || body.includes(`${rnc}E31`));
    socket.write(
      isLimited
        ? httpAnswer('429 Too Many Requests', 'text/plain', 'later', `retry-after: ${retryAfter}\r\n`)
        : httpAnswer('200 OK', 'application/json', RECEIVED),
    );
  });
  let seconds = 0;
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(server.url),
    userAgent: 'test',
    elapsed: () => seconds * 1_000,
  });
  return {
    limited,
    client,
    pass: (more: number) => {
      seconds += more;
    },
    send: (issuerRnc: string, token = `token of ${issuerRnc}`.replaceAll(' ', '-')) =>
      client.submitDocument({ env: 'TesteCF', token, issuerRnc, encf: 'E310000000001', xml: '<ECF/>' }),
  };
}

describe('one taxpayer that the authority limits', () => {
  it('waits alone, with every token, until Retry-After has passed', async () => {
    const { limited, send, pass } = await authority();
    expect(await send(ANA)).toMatchObject({ cause: 'rate_limited', limit: 'taxpayer', retryAfterMs: 120_000 });
    pass(20);
    const again = await send(ANA, 'a-new-token');
    expect(again).toEqual({
      outcome: 'unknown',
      cause: 'circuit_open',
      reachedAuthority: 'no',
      limit: 'taxpayer',
      retryAfterMs: 100_000,
      detail: 'the authority limits the calls of 101000001 to recepcion in TesteCF (status 429)',
      raw: null,
    });
    expect(isUnanswered(again)).toBe(false);
    expect(await send(EVA)).toMatchObject({ outcome: 'verdict' });
    expect(server.requests).toHaveLength(2);
    limited.clear();
    pass(100);
    expect(await send(ANA)).toMatchObject({ outcome: 'verdict' });
  });

  it('waits ten minutes at most', async () => {
    const { send, pass } = await authority('86400');
    expect(await send(ANA)).toMatchObject({ retryAfterMs: 600_000 });
    pass(600);
    await send(ANA);
    expect(server.requests).toHaveLength(2);
  });

  it('may call other services, and counts once however often it is limited', async () => {
    const { client, send, pass } = await authority('5');
    for (let call = 0; call < 6; call += 1) {
      expect(await send(ANA)).toMatchObject({ cause: 'rate_limited', limit: 'taxpayer' });
      pass(5);
    }
    expect(await send(EVA)).toMatchObject({ outcome: 'verdict' });
    await send(ANA);
    const before = server.requests.length;
    await client.queryTrackIds({ env: 'TesteCF', token: 't', issuerRnc: ANA, encf: 'E310000000001' });
    expect(server.requests).toHaveLength(before + 1);
  });
});

describe('several taxpayers that the authority limits', () => {
  it('within a minute pause the service for all of the environment, and for no other', async () => {
    const { client, send, pass } = await authority('90', [ANA, EVA, LEO]);
    expect(await send(ANA)).toMatchObject({ limit: 'taxpayer' });
    pass(25);
    expect(await send(EVA)).toMatchObject({ limit: 'taxpayer' });
    pass(25);
    expect(await send(LEO)).toMatchObject({ cause: 'rate_limited', limit: 'service', retryAfterMs: 90_000 });
    expect(await send(SOL)).toMatchObject({
      cause: 'circuit_open',
      limit: 'service',
      retryAfterMs: 90_000,
      detail: 'the authority limits the calls to recepcion in TesteCF (status 429)',
    });
    expect(server.requests).toHaveLength(3);
    const document = { token: 't', issuerRnc: SOL, encf: 'E310000000001', xml: '<ECF/>' };
    expect(await client.submitDocument({ env: 'CerteCF', ...document })).toMatchObject({ outcome: 'verdict' });
    pass(90);
    expect(await send(SOL)).toMatchObject({ outcome: 'verdict' });
  });

  it('over a longer time wait each alone', async () => {
    const { send, pass } = await authority('600', [ANA, EVA, LEO]);
    for (const rnc of [ANA, EVA, LEO]) {
      expect(await send(rnc)).toMatchObject({ cause: 'rate_limited', limit: 'taxpayer' });
      pass(40);
    }
    expect(await send(SOL)).toMatchObject({ outcome: 'verdict' });
  });
});

it('a service that says it is unavailable (503 with Retry-After) is paused for all', async () => {
  server = await startRawServer((_, socket) =>
    socket.write(httpAnswer('503 Service Unavailable', 'text/plain', 'later', 'retry-after: 60\r\n')),
  );
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(server.url),
    userAgent: 'test',
    elapsed: () => 0,
  });
  const send = (issuerRnc: string) =>
    client.submitDocument({ env: 'TesteCF', token: 't', issuerRnc, encf: 'E310000000001', xml: '<ECF/>' });
  await send(ANA);
  expect(await send(EVA)).toMatchObject({ cause: 'circuit_open', retryAfterMs: 60_000 });
  expect(server.requests).toHaveLength(1);
});
