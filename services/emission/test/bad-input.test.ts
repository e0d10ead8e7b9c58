import http from 'node:http';
import { createHttpApp, type RunningServer, readBody, serve } from '@ecf/http';
import { IDENTITY_HEADER } from '@ecf/http/identity';
import { beginPost, chunkOf } from '@ecf/test-support/raw-posts';
import { CALLER_HEADER, silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Document, encf, example, OTHER_ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

describe('emission', () => {
  let world: World;
  let emission: Instance;

  beforeAll(async () => {
    world = await World.create({ settings: { STATUS_WAIT_MS: '2000', MAX_BODY_BYTES: String(10 * 1024 * 1024) } });
    emission = await world.start();
  });
  afterAll(() => world.stop());

  const rows = async () => (await world.database.query('SELECT 1 FROM emission')).rowCount;

  /** A multipart body made by hand, so that any part of it can be wrong. */
  function post(
    body: Buffer | string,
    contentType = 'multipart/form-data; boundary=B',
  ): Promise<{ status: number; body: Document }> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return world.call(emission, 'POST', '/fe_Submit', {
      body: new Uint8Array(bytes),
      headers: { 'content-type': contentType },
    });
  }
  const part = (content: string | Buffer, header = 'Content-Disposition: form-data; name="data"') =>
    Buffer.concat([Buffer.from(`--B\r\n${header}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
  const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from('--B--\r\n')]);
  const valid = JSON.stringify(example('ecf-31', 1));

  it.each([
    ['/fe_Submit', 'multipart/form-data; boundary=B'],
    ['/submit_ecf', 'application/json'],
    ['/submit_fc', 'application/json'],
    ['/anecf', 'application/json'],
    ['/batches', 'application/x-ndjson'],
    ['/batches', 'application/json'],
    ['/internal/master-keys/state', 'application/json'],
  ])('refuses at %s a body of %s with one byte per chunk', async (route, type) => {
    const isInternal = route.startsWith('/internal/');
    const request = beginPost(
      `${emission.url}${route}`,
      {
        [CALLER_HEADER]: isInternal ? world.serviceIdentity() : world.identity(),
        'content-type': type,
        'x-token': 'any',
      },
      // The body does not end: a reader that waits for its end never answers.
      chunkOf('[') + chunkOf(' ').repeat(20_000),
    );
    expect(await request.answer()).toMatchObject({ status: 400, code: 'bad_request' });
    request.socket.destroy();
  });

  const fault = (document: Document) => JSON.stringify(document);
  const lines = (count: number) =>
    example('ecf-31', 1, (ecf) => {
      const line = ecf.DetallesItems.Item[2];
      ecf.DetallesItems.Item = Array.from({ length: count }, (_, index) => ({
        ...line,
        NumeroLinea: String(index + 1),
      }));
    });

  it.each<[string, () => [Buffer | string, string?], number, string, Document?]>([
    [
      'no data part',
      () => [form(part('x', 'Content-Disposition: form-data; name="other"'))],
      422,
      'validation_error',
      { detail: [{ loc: ['body', 'data'], type: 'missing' }] },
    ],
    [
      'no part at all',
      () => [form()],
      422,
      'validation_error',
      { detail: [{ loc: ['body', 'data'], type: 'missing' }] },
    ],
    [
      'two data parts',
      () => [form(part(valid), part(valid))],
      422,
      'validation_error',
      { detail: [{ loc: ['body', 'data'], type: 'repeated' }] },
    ],
    [
      'two password parts',
      () => [
        form(
          part(valid),
          part('a', 'Content-Disposition: form-data; name="password"'),
          part('b', 'Content-Disposition: form-data; name="password"'),
        ),
      ],
      422,
      'validation_error',
      { detail: [{ loc: ['body', 'password'] }] },
    ],
    [
      'a part whose name is an index of an array of four thousand million elements',
      () => [form(part('x', 'Content-Disposition: form-data; name="other[4294967294]"'))],
      400,
      'bad_request',
    ],
    ['an empty body', () => [''], 400, 'bad_request'],
    ['a body that is cut', () => [part(valid)], 400, 'bad_request'],
    ['a type that is neither form nor JSON', () => [valid, 'text/plain'], 415, 'unsupported_media_type'],
    ['a form without boundary', () => [form(part(valid)), 'multipart/form-data'], 400, 'bad_request'],
    ...[
      'boundary=',
      'boundary=""',
      'boundary=" "',
      'boundary="B',
      'boundary=B"',
      'boundary',
      ' ',
      'boundary=\u00e1\u00e9',
      `boundary=${'B'.repeat(15_000)}`,
    ].map((parameter): [string, () => [Buffer, string], number, string] => [
      `a form with the parameter ${parameter.slice(0, 30)}`,
      () => [form(part(valid)), `multipart/form-data; ${parameter}`],
      400,
      'bad_request',
    ]),
    ['an empty data part', () => [form(part(''))], 400, 'invalid_json'],
    ['20 MB', () => [form(part('x'.repeat(20 * 1024 * 1024)))], 413, 'body_too_large'],
    [
      'invalid JSON',
      () => [form(part('{"ECF": {\n  "a": 1,,\n}}'))],
      400,
      'invalid_json',
      { detail: expect.stringMatching(/line 2/i), messages: [expect.any(String)], faults: [] },
    ],
    ['JSON with something after it', () => [form(part(`${valid} x`))], 400, 'invalid_json'],
    [
      'the wrong root',
      () => [form(part('{"Factura": {}}'))],
      400,
      'invalid_document',
      { faults: [expect.objectContaining({ rule: expect.any(String) })] },
    ],
    ['another of our documents', () => [form(part('{"RFCE": {"Encabezado": {}}}'))], 400, 'invalid_document'],
    ['an array', () => [form(part('[]'))], 400, 'invalid_document'],
    [
      'null',
      () => [form(part('null'))],
      400,
      'invalid_document',
      { messages: [expect.stringMatching(/^ECF: /)], faults: [{ path: 'ECF', rule: 'schema.required' }] },
    ],
    ['__proto__', () => [form(part('{"ECF": {"__proto__": {"a": 1}}}'))], 400, 'invalid_json'],
    ['1,000 levels', () => [form(part(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`))], 400, 'invalid_json'],
    [
      'bytes that are not UTF-8',
      () => [form(part(Buffer.from(valid.replace('Silla', 'Sill\u00e1'), 'latin1')))],
      400,
      'not_utf8',
    ],
    [
      'a part that declares another charset',
      () => [
        form(
          part(
            valid,
            'Content-Disposition: form-data; name="data"\r\nContent-Type: application/json; charset=iso-8859-1',
          ),
        ),
      ],
      400,
      'not_utf8',
    ],
    [
      'an unknown type',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.Encabezado.IdDoc.TipoeCF = '39';
              }),
            ),
          ),
        ),
      ],
      400,
      'invalid_document',
      { faults: [expect.objectContaining({ path: 'ECF.Encabezado.IdDoc.TipoeCF', rule: 'schema.enumeration' })] },
    ],
    [
      'no lines',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.DetallesItems = { Item: [] };
              }),
            ),
          ),
        ),
      ],
      400,
      'invalid_document',
    ],
    [
      '1,001 lines',
      () => [form(part(fault(lines(1_001))))],
      400,
      'invalid_document',
      { faults: expect.arrayContaining([expect.objectContaining({ rule: 'schema.repeat' })]) },
    ],
    [
      'a boolean',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.Encabezado.Emisor.Municipio = true;
              }),
            ),
          ),
        ),
      ],
      400,
      'invalid_document',
    ],
    [
      'an unknown key',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.Encabezado.Emisor.Apodo = 'x';
              }),
            ),
          ),
        ),
      ],
      400,
      'invalid_document',
      {
        faults: [expect.objectContaining({ path: 'ECF.Encabezado.Emisor.Apodo', rule: 'schema.unknown' })],
        messages: [expect.stringContaining('ECF.Encabezado.Emisor.Apodo')],
      },
    ],
    [
      'an eNCF of another form',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.Encabezado.IdDoc.eNCF = 'e310000000001';
              }),
            ),
          ),
        ),
      ],
      400,
      'invalid_document',
    ],
    [
      'the RNC of another account',
      () => [
        form(
          part(
            fault(
              example('ecf-31', 1, (ecf) => {
                ecf.Encabezado.Emisor.RNCEmisor = OTHER_ISSUER;
              }),
            ),
          ),
        ),
      ],
      404,
      'taxpayer_not_found',
    ],
  ])('refuses %s and stores no document', async (_what, make, status, code, more = {}) => {
    const [body, type] = make();
    const answer = await post(body, type);
    expect(answer).toMatchObject({ status, body: { code, request_id: expect.any(String), ...more } });
    if (status === 400) {
      expect(answer.body.messages).toHaveLength(Math.max(1, answer.body.faults.length));
    }
    expect(await rows()).toBe(0);
  });

  it.each([
    'Content-Disposition',
    'Content-Disposition:',
    'Content-Disposition: form-data; name="data',
    'Content-Disposition: form-data; name="\u00e1"; filename="\u0001',
    `Content-Disposition: form-data; name="${'n'.repeat(1_000_000)}"`,
    `Content-Disposition: form-data; name="data"\r\nX-Long: ${'x'.repeat(1_000_000)}`,
    `Content-Type: a;${' ;charset'.repeat(120_000)}`,
    'Content-Disposition: form-data; name="a[b"',
    `Content-Disposition: form-data; name="a${'[b]'.repeat(5_000)}"`,
    'Content-Disposition: form-data; name="__proto__"',
    '\u00e1: \u00e9',
    ' folded',
    '',
  ])('answers a part with a malformed header as a fault of the caller (%#)', async (header) => {
    const { status, body } = await post(form(part(valid, header)));
    expect([400, 422]).toContain(status);
    expect(['bad_request', 'validation_error']).toContain(body.code);
    expect(await rows()).toBe(0);
  });

  it('answers ten megabytes in one header, or of blanks, quickly', async () => {
    const header = `Content-Disposition: form-data; name="data"\r\nContent-Type: a${' ;charset='.repeat(1_000_000)}`;
    expect((await post(form(part(valid, header)))).status).toBe(400);
    const xml = `${' '.repeat(9 * 1024 * 1024)}x`;
    const init = { headers: { 'x-token': 'x', 'content-type': 'application/json' }, body: JSON.stringify({ xml }) };
    expect((await world.call(emission, 'POST', '/submit_ecf', init)).status).toBe(400);
  });

  it('refuses an unknown or missing value of validate', async () => {
    const refused = { status: 422, body: { detail: [{ loc: ['query', 'validate'] }] } };
    for (const query of ['?validate=quizá', '?validate=', '?validate']) {
      expect(await world.submit(emission, example('ecf-31', 1), { query })).toMatchObject(refused);
      const init = { headers: { 'content-type': 'application/x-ndjson' }, body: JSON.stringify(example('ecf-31', 1)) };
      expect(await world.call(emission, 'POST', `/batches${query}`, init)).toMatchObject(refused);
    }
    expect(await rows()).toBe(0);
  });

  it('refuses a call without the identity of the gateway', async () => {
    for (const init of [
      { identity: '' },
      { identity: '', headers: { [IDENTITY_HEADER]: 'x.y' } },
      { identity: world.serviceIdentity() },
    ]) {
      const answer = await world.call(emission, 'POST', '/fe_Submit', init);
      expect([answer.status, answer.body.code]).toEqual([401, 'invalid_identity']);
    }
    expect((await world.call(emission, 'GET', '/nada')).body.code).toBe('unknown_route');
  });

  it('refuses a new document of an inactive taxpayer', async () => {
    world.register('199999991', world.certificate, { active: false });
    expect((await world.submit(emission, example('ecf-31', 2))).status).toBe(404);
    world.register('199999991', world.certificate, { account_active: false });
    expect((await world.submit(emission, example('ecf-31', 2))).status).toBe(404);
    world.register('199999991', world.certificate);
    expect((await world.submit(emission, example('ecf-31', 2))).status).toBe(200);
  });

  describe('while the authority fails', () => {
    /** After each fault: the document is stored, answered as in process, and ends accepted with one effective submission. */
    it.each([
      ['down', { kind: 'down' }],
      ['cut before noting', { kind: 'reset' }],
      ['cut after noting', { kind: 'reset-after' }],
      ['no answer, not noted', { kind: 'timeout' }],
      ['no answer, noted', { kind: 'timeout-after' }],
      ['HTML of a proxy', { kind: 'http', status: 200, body: '<html>espere</html>' }],
      ['an empty 400', { kind: 'http', status: 400, body: '' }],
      ['500', { kind: 'http', status: 500, body: 'x' }],
      ['JSON that is not a verdict', { kind: 'http', status: 200, body: '{"hola":1}' }],
      ['slow', { kind: 'slow', delay_ms: 300 }],
    ] as const)('issues each document once: %s', async (what, fault) => {
      sequence += 1;
      const [ecf, rfce] = [example('ecf-31', sequence), example('ecf-32', sequence)];
      const full = await world.fault({ operation: 'recepcion', times: 1, ...fault });
      const summary = await world.fault({ operation: 'recepcionfc', times: 1, ...fault });
      const answers = await Promise.all([world.submit(emission, ecf), world.submit(emission, rfce)]);
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect(['EnProceso', 'Aceptado']).toContain(body.status);
        expect([body.xml, body.qr_url]).toEqual([expect.stringContaining('<Signature'), expect.any(String)]);
        if (what !== 'slow') expect(body.sequence_used === null || body.sequence_used === true).toBe(true);
      }
      for (const [number, answer] of [
        [encf('31', sequence), answers[0]],
        [encf('32', sequence), answers[1]],
      ] as const) {
        const row = await world.reaches(number, ['accepted']);
        const ledger = await world.ledger(number);
        expect(ledger.filter(({ effective }) => effective)).toHaveLength(1);
        const sent = number.startsWith('E31') ? row.xml_sha256 : row.rfce_sha256;
        expect(new Set(ledger.map(({ sha256 }) => sha256))).toEqual(new Set([sent]));
        expect(answer?.body.xml).toBeDefined();
      }
      await world.clearFaults(full);
      await world.clearFaults(summary);
    });
    let sequence = 100;

    it('keeps every raw answer', async () => {
      const { rows: kept } = await world.database.query<{ operation: string; outcome: string }>(
        'SELECT operation, outcome FROM exchange',
      );
      expect(new Set(kept.map(({ operation }) => operation))).toEqual(
        new Set([
          'submitDocument',
          'submitConsumerSummary',
          'queryResult',
          'queryTrackIds',
          'queryState',
          'queryConsumerSummary',
        ]),
      );
      expect(kept.filter(({ outcome }) => outcome.startsWith('unknown:')).length).toBeGreaterThan(5);
    });
  });
});

describe('a body without a stated length', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const app = createHttpApp({
      logger: silentLogger,
      maxBodyBytes: 1_000,
      routes: (routes) => routes.post('/', async (req, res) => void res.json((await readBody(req)).length)),
    });
    server = await serve(app, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.stop());

  it('that is too large gets only 413, the connection stays open, and no stack is printed', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const post = (chunks: number) =>
      new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
        const request = http.request(server.url, { method: 'POST', agent }, (response) => {
          const { reusedSocket: reused } = request;
          response.resume().once('end', () => resolve({ status: response.statusCode, reused }));
        });
        request.once('error', reject);
        for (let i = 0; i < chunks; i += 1) request.write(Buffer.alloc(300));
        request.end();
      });
    try {
      expect(await post(2)).toEqual({ status: 200, reused: false });
      for (let i = 0; i < 3; i += 1) expect(await post(20)).toEqual({ status: 413, reused: true });
      expect(await post(2)).toEqual({ status: 200, reused: true });
      expect(printed).not.toHaveBeenCalled();
    } finally {
      printed.mockRestore();
      agent.destroy();
    }
  });
});
