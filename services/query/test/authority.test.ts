import type { Answer as AuthorityAnswer, DirectoryEntry } from '@ecf/authority-client';
import { consumptionInvoiceStatusSchema, directoryEntrySchema, monitoringStatusSchema } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ACCOUNT, encf, FOREIGN_ISSUER, ISSUER, invoice, invoiceEvent } from './support/events.js';
import { startWorld, type World } from './support/world.js';

const raw = { status: 200, contentType: 'application/json', body: '{}', truncated: false };
const verdict = <V>(value: V): AuthorityAnswer<V> => ({ outcome: 'verdict', verdict: value, raw });
const unknown = (cause: string, retryAfterMs?: number) =>
  ({
    outcome: 'unknown',
    cause,
    reachedAuthority: 'maybe',
    detail: '',
    raw: null,
    ...(retryAfterMs ? { retryAfterMs } : {}),
  }) as never;
const missing = { outcome: 'refused', code: 'service_not_in_environment', reason: 'none', raw: null } as never;

let world: World;
let keyless: World;
beforeAll(async () => {
  [world, keyless] = await Promise.all([startWorld({ STATUS_KEY: 'a-key-for-tests' }), startWorld()]);
});
afterAll(() => Promise.all([world.stop(), keyless.stop()]));
beforeEach(() => {
  world.owners.tokenRefusal = null;
  world.owners.tokenRequests.length = 0;
});

describe('GET /query-consumption-invoice/', () => {
  const number = encf('32', 1);
  const path = `/query-consumption-invoice/?rnc_issuing=${ISSUER}&encf=${number}&security_code=aB%2B%2F9z`;
  const summary = (status: string) =>
    verdict({
      status,
      code: '1',
      messages: [{ codigo: '75', valor: 'Secuencia' }],
      sequenceUsed: true,
      trackId: null,
      dateReceived: null,
      rnc: ISSUER,
      encf: number,
    } as never);

  it('returns the present answer of the authority, queried with the issuer’s token', async () => {
    const inputs: unknown[] = [];
    world.authority.queryConsumerSummary = async (input) => {
      inputs.push(input);
      return summary('Aceptado');
    };
    const { status, body } = await world.get(path);
    expect(status).toBe(200);
    expect(body).toEqual({
      rnc: ISSUER,
      encf: number,
      status: 'Aceptado',
      code: '1',
      messages: [{ codigo: '75', valor: 'Secuencia' }],
      sequence_used: true,
    });
    expect(consumptionInvoiceStatusSchema.strict().parse(body)).toEqual(body);
    expect(inputs).toEqual([
      { env: 'TesteCF', issuerRnc: ISSUER, encf: number, securityCode: 'aB+/9z', token: 'token-1' },
    ]);
    expect(world.owners.tokenRequests).toEqual([
      { env: 'TesteCF', account_id: ACCOUNT, taxpayers_revision: 0, rnc: ISSUER, refused: null },
    ]);
    // A plus sign that the caller did not encode.
    await world.get(path.replace('%2B', '+'));
    expect(inputs[1]).toMatchObject({ securityCode: 'aB+/9z' });
  });

  it('queries a document that was sent as a full e-CF by its data', async () => {
    await world.publish(invoiceEvent(invoice({ sequence: 1, ecf_type: '32', route: 'ecf', env: 'eCF' })));
    const inputs: unknown[] = [];
    world.authority.queryState = async (input) => {
      inputs.push(input);
      return verdict({ status: 'Aceptado', code: '1' } as never);
    };
    const { status, body } = await world.get(`${path}&rnc_buyer=188888885`, { env: 'eCF' });
    expect([status, body.messages, body.sequence_used]).toEqual([200, [], null]);
    expect(inputs).toMatchObject([{ env: 'eCF', buyerRnc: '188888885', securityCode: 'aB+/9z' }]);
  });

  it('renews a token that the authority refuses, but only once', async () => {
    const tokens: string[] = [];
    world.authority.queryConsumerSummary = async ({ token }) => {
      tokens.push(token);
      return token === 'token-1' ? { outcome: 'unauthorized', raw } : summary('Rechazado');
    };
    expect((await world.get(path)).body.status).toBe('Rechazado');
    expect(tokens).toEqual(['token-1', 'token-2']);
    expect(world.owners.tokenRequests[1]).toMatchObject({ refused: 'token-1' });
    world.authority.queryConsumerSummary = async () => ({ outcome: 'unauthorized', raw });
    expect((await world.get(path)).body.code).toBe('authority_unreadable');
  });

  it.each([
    [summary('No encontrado'), 404, 'not_found', null],
    [unknown('timeout'), 503, 'authority_unreachable', '10'],
    [unknown('server_error', 42_000), 503, 'authority_unreachable', '42'],
    [unknown('circuit_open', 900), 503, 'authority_unreachable', '1'],
    [unknown('not_a_verdict'), 502, 'authority_unreadable', null],
    [missing, 422, 'service_not_in_environment', null],
  ])('answers the authority’s %j with %i %s', async (answer, status, code, retryAfter) => {
    world.authority.queryConsumerSummary = async () => answer;
    const found = await world.get(path);
    expect([found.status, found.body.code, found.headers.get('retry-after')]).toEqual([status, code, retryAfter]);
  });

  it('does not claim that a document is missing if its route is unknown', async () => {
    world.authority.queryConsumerSummary = async () => summary('No encontrado');
    const failing = jest
      .spyOn(world.owners.emission, 'findInvoices')
      .mockRejectedValue(new Error('emission is unreachable'));
    const answer = await world.get(path);
    failing.mockRestore();
    expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
  });

  it('answers 503 without a certificate, 401 for a refused login, and 503 for a login without an answer', async () => {
    for (const [refusal, status, code] of [
      [new ApiError(404, 'not_found', 'none'), 503, 'certificate_missing'],
      [new ApiError(401, 'login_refused', 'no'), 401, 'login_refused'],
      [new ApiError(503, 'authority_unreachable', 'no'), 503, 'authority_unreachable'],
      [new ApiError(503, 'certificate_expired', 'no'), 503, 'certificate_expired'],
    ] as const) {
      world.owners.tokenRefusal = refusal;
      const answer = await world.get(path);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
  });

  it('answers 422 for missing or malformed parameters, and 404 for an RNC of another account', async () => {
    const problems = async (query: string) => {
      const { status, body } = await world.get(`/query-consumption-invoice/?${query}`);
      return [
        status,
        (body.detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.join('.')} ${type}`),
      ];
    };
    expect(await problems('')).toEqual([
      422,
      ['query.rnc_issuing missing', 'query.encf missing', 'query.security_code missing'],
    ]);
    expect(await problems(`rnc_issuing=1&encf=E32&security_code=%00&rnc_buyer=x`)).toEqual([
      422,
      ['query.rnc_issuing rnc', 'query.encf encf', 'query.security_code security_code', 'query.rnc_buyer rnc'],
    ]);
    expect(await problems(`rnc_issuing=${ISSUER}&encf=${encf('31', 1)}&security_code=abcdef`)).toEqual([
      422,
      ['query.encf ecf_type'],
    ]);
    expect(await world.get(path.replace(ISSUER, FOREIGN_ISSUER))).toMatchObject({
      status: 404,
      body: { code: 'taxpayer_not_found' },
    });
  });
});

describe('GET /directory/taxpayers', () => {
  const entry: DirectoryEntry = {
    rnc: '131880681',
    name: 'Empresa',
    receptionUrl: 'https://receptor.example/base',
    approvalUrl: 'https://receptor.example/base',
    authenticationUrl: null,
  };
  const shown = {
    rnc: '131880681',
    name: 'Empresa',
    reception_url: 'https://receptor.example/base',
    approval_url: 'https://receptor.example/base',
    authentication_url: null,
  };

  it('lists the entries of the authority, with the token of any taxpayer of the account', async () => {
    world.authority.listDirectory = async () => verdict([entry]);
    const { status, body } = await world.get('/directory/taxpayers/');
    expect([status, body]).toEqual([200, [shown]]);
    expect(directoryEntrySchema.array().parse(body)).toEqual(body);
    expect(world.owners.tokenRequests).toMatchObject([{ rnc: null, account_id: ACCOUNT }]);
  });

  it('returns one entry by its RNC; an unknown RNC is 404, a malformed one 422', async () => {
    world.authority.findInDirectory = async ({ rnc }) => verdict(rnc === entry.rnc ? entry : null);
    expect((await world.get('/directory/taxpayers/131880681')).body).toEqual(shown);
    expect(await world.get('/directory/taxpayers/101010101')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await world.get('/directory/taxpayers/1010')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['path', 'rnc'] }] },
    });
  });

  it('answers with an error if the environment has no directory or the authority is down', async () => {
    world.authority.listDirectory = async () => missing;
    expect(await world.get('/directory/taxpayers', { env: 'CerteCF' })).toMatchObject({
      status: 422,
      body: {
        code: 'service_not_in_environment',
        detail: [{ loc: ['header', 'env'], type: 'service_not_in_environment' }],
      },
    });
    world.authority.listDirectory = async () => unknown('connection');
    expect((await world.get('/directory/taxpayers')).status).toBe(503);
    world.authority.listDirectory = async () => unknown('not_a_verdict');
    expect((await world.get('/directory/taxpayers')).status).toBe(502);
  });
});

describe('GET /monitoring/status', () => {
  const services = [{ service: 'Recepción', available: false, environment: 'Produccion' }];
  const windows = [
    { environment: 'PreCertificacion', startTime: '9:00 AM', endTime: '12:00 PM', days: ['06-12-2026'] },
  ];

  it('returns the answer of the status service', async () => {
    const keys: string[] = [];
    world.authority.environmentStatus = async ({ statusKey }) => {
      keys.push(statusKey);
      return verdict({ available: true });
    };
    world.authority.serviceStatus = async () => verdict(services);
    world.authority.maintenanceWindows = async () => verdict(windows);
    const { status, body } = await world.get('/monitoring/status', { env: 'eCF' });
    expect(status).toBe(200);
    expect(monitoringStatusSchema.strict().parse(body)).toEqual(body);
    expect(body).toEqual({
      env: 'eCF',
      available: true,
      services: [{ service: 'Recepción', status: 'unavailable', environment: 'Produccion' }],
      maintenance_windows: [
        { environment: 'PreCertificacion', start_time: '9:00 AM', end_time: '12:00 PM', days: ['06-12-2026'] },
      ],
      checked_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}-04:00$/),
    });
    expect(keys).toEqual(['a-key-for-tests']);
    expect(world.owners.tokenRequests).toEqual([]);
  });

  it('answers 503 for an unreachable status service, and 502 for an unreadable answer or a refused key', async () => {
    for (const [answer, status] of [
      [unknown('timeout'), 503],
      [unknown('not_a_verdict'), 502],
      [{ outcome: 'unauthorized', raw } as never, 502],
    ] as const) {
      world.authority.serviceStatus = async () => answer;
      expect((await world.get('/monitoring/status')).status).toBe(status);
    }
  });

  it('answers 503 status_key_missing without a key', async () => {
    expect(await keyless.get('/monitoring/status')).toMatchObject({
      status: 503,
      body: { code: 'status_key_missing' },
    });
  });
});
