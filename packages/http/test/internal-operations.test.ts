import { EMISSION_OPERATIONS, type EmissionOperations, SERVICE_NAMES } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import { identitiesOf, silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHttpApp } from '../src/http-app.js';
import { type RunningServer, serve } from '../src/http-server.js';
import { createIdentities, type Identities } from '../src/identity/identity.js';
import { makeServiceKeys, readServiceKeys } from '../src/identity/service-keys.js';
import { createInternalClient, internalOperationRoutes } from '../src/internal/internal-operations.js';

const requests: unknown[] = [];
const refuse = async () => {
  throw new Error('not in this test');
};
const answering: EmissionOperations = {
  authorityToken: async (request) => {
    requests.push(request);
    if (request.account_id === 'locked')
      throw new ApiError(401, 'login_refused', 'The authority refuses the login with this certificate.');
    if (request.account_id === 'away')
      throw new ApiError(503, 'authority_unreachable', 'Not now.', { headers: { 'retry-after': '17' } });
    return { token: 'abc', expires_in: 3600 };
  },
  findInvoices: refuse,
  pageOfInvoices: refuse,
  rawAnswers: refuse,
  sealedCertificate: refuse,
};
const question = { env: 'TesteCF', account_id: 'a', taxpayers_revision: 0, rnc: null, refused: null } as const;

let server: RunningServer;
beforeAll(async () => {
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 1_000_000,
    routes: (routes) => routes.use(internalOperationRoutes(EMISSION_OPERATIONS, answering, identitiesOf('emission'))),
  });
  server = await serve(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.stop());

function client(options: { url?: string; identities?: Identities } = {}): EmissionOperations {
  return createInternalClient(EMISSION_OPERATIONS, {
    url: options.url ?? server.url,
    owner: 'emission',
    identities: options.identities ?? identitiesOf('query'),
    timeoutMs: 2_000,
  });
}

const forAnother: Identities['sign'] = (caller, call) =>
  identitiesOf('query').sign(caller, { ...call, audience: 'reception' });

describe('internal operations over HTTP', () => {
  it('check request and answer by their schemas', async () => {
    expect(await client().authorityToken(question)).toEqual({ token: 'abc', expires_in: 3600 });
    expect(requests.at(-1)).toEqual(question);
  });

  it('return a refusal unchanged, with its Retry-After', async () => {
    await expect(client().authorityToken({ ...question, account_id: 'locked' })).rejects.toMatchObject({
      status: 401,
      code: 'login_refused',
      detail: 'The authority refuses the login with this certificate.',
    });
    await expect(client().authorityToken({ ...question, account_id: 'away' })).rejects.toMatchObject({
      status: 503,
      code: 'authority_unreachable',
      headers: { 'retry-after': '17' },
    });
    await expect(client().authorityToken({ ...question, rnc: '1' })).rejects.toMatchObject({ status: 422 });
  });

  it('refuse a foreign key, an expired identity, and a call that was meant for another service', async () => {
    const foreign = readServiceKeys('query', makeServiceKeys().query);
    const callers = [
      createIdentities({ keys: foreign, clock: () => new Date() }),
      identitiesOf('query', () => new Date(Date.now() - 75_000)),
      { ...identitiesOf('query'), sign: forAnother },
    ];
    for (const identities of callers)
      await expect(client({ identities }).authorityToken(question)).rejects.toMatchObject({
        status: 401,
        code: 'invalid_identity',
      });
  });

  it('refuse every service that the operation does not name as a caller, whatever the body is', async () => {
    for (const service of SERVICE_NAMES) {
      const asking = client({ identities: identitiesOf(service) }).authorityToken(question);
      if (service === 'query') await expect(asking).resolves.toMatchObject({ token: 'abc' });
      else await expect(asking).rejects.toMatchObject({ status: 401, code: 'invalid_identity' });
    }
    const unreadable = { ...question, rnc: '1' };
    await expect(
      client({ identities: identitiesOf('status-poller') }).authorityToken(unreadable),
    ).rejects.toMatchObject({ status: 401, code: 'invalid_identity' });
  });

  it('fail with 503 while the service does not answer', async () => {
    await expect(client({ url: 'http://127.0.0.1:1' }).authorityToken(question)).rejects.toMatchObject({
      status: 503,
      code: 'service_unavailable',
    });
  });
});
