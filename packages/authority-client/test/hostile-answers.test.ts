/** Answers of a mebibyte that are written to keep a pattern busy. The time limits only end a test that hangs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createReceiverClient, type ReceiverClient } from '../src/index.js';
import { withoutCredentials, withoutTokens } from '../src/secrets.js';
import { httpAnswer, type RawServer, startRawServer } from './raw-server.js';

const SIZE = 1024 * 1024;
const filled = (piece: string, size = SIZE - 1_000) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const inJson = (text: string) => JSON.stringify({ mensaje: text });

const BODIES: readonly [what: string, body: string][] = [
  ['beginnings of JWTs', filled('eyJ')],
  ['beginnings of JWTs between dots', filled('eyJa.')],
  ['fields "token" without a value', filled('"token" ')],
  ['tags <token without an end', filled('<token ')],
  ['an XML tag without an end', `<?xml version="1.0"?><${filled('a')}`],
  ['an XML element with a long name', `<${filled('a', 40_000)} a="1">${filled('<b/>', 600_000)}`],
  ['quotes that are never closed', filled('"\\')],
  ['a string in JSON', inJson(filled('a'))],
  ['digits', filled('1')],
  ['combining marks', inJson(filled('\u0301\u0323', SIZE / 2 - 1_000))],
  ['words about a seed', inJson(filled('semilla '))],
  ['words about a new attempt', inJson(filled('intent'))],
  ['blanks', `${filled(' ')}x`],
];

describe('an answer of a mebibyte', () => {
  let server: RawServer;
  let client: ReceiverClient;
  let body = '';
  let status = '';
  beforeAll(async () => {
    server = await startRawServer((_, socket) => socket.write(httpAnswer(status, 'application/json', body)));
    client = createReceiverClient({ userAgent: 'ecf-test/1', addressGuard: () => true, allowPlainHttp: true });
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  it.each(BODIES)(
    'of %s is read in linear time',
    async (_, hostile) => {
      body = hostile;
      for (status of ['200 OK', '400 Bad Request']) {
        const login = await client.receiverToken({ baseUrl: server.url, signedSeed: '<SemillaModel/>' });
        expect([login.outcome, login.raw?.truncated]).toEqual(['unknown', true]);
        const delivered = await client.deliverDocument({
          baseUrl: server.url,
          issuerRnc: '101672919',
          encf: 'E310000000001',
          xml: '<ECF/>',
          token: 'secret-of-this-call',
        });
        expect(delivered.raw?.truncated).toBe(true);
      }
    },
    60_000,
  );
});

describe('the cut of a recorded answer', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoiMDAxIn0.c2ln';

  it.each([
    ['a JWT', `{"access":"${token}"}`, 11],
    ['an opaque token in JSON', '{"token":"opaque-\\"value-of-a-token"}', 10],
    ['an opaque token in XML', '<a><token>opaque-value-of-a-token</token></a>', 10],
  ])('leaves no part of %s, wherever it falls', (_, body, start) => {
    for (let most = start + 3; most < body.length; most++) {
      const kept = withoutTokens(withoutCredentials(body, undefined, most));
      expect(kept.slice(0, start)).toBe(body.slice(0, start));
      expect(kept.slice(start)).toMatch(/^\[removed\](?:"\}?|\\|<[/a-z<>]*)?$/);
    }
  });

  it('leaves no part of the credentials of the call, wherever it falls', () => {
    const body = `<html>Bearer ${token}, ${token}</html>`;
    for (let most = 0; most <= body.length; most++) {
      const kept = withoutCredentials(body, `Bearer ${token}`, most);
      expect(kept.replaceAll('[removed]', '')).not.toContain('ey');
    }
    expect(withoutCredentials(body, `Bearer ${token}`)).toBe('<html>Bearer [removed], [removed]</html>');
  });
});
