import { createHash } from 'node:crypto';
import { openCertificate, signXml, verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSignedDocuments } from '../src/issue/signed-documents.worker.js';
import { BUYER, creditNote, type Document, encf, example, ISSUER, OTHER_ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

describe('documents that the caller signed', () => {
  let world: World;
  let emission: Instance;
  let token: string;

  beforeAll(async () => {
    world = await World.create({ settings: { STATUS_WAIT_MS: '10000' } });
    emission = await world.start();
    token = await world.token(emission);
  });
  afterAll(() => world.stop());

  /** A document signed by the caller: here another environment's document with the same content. */
  async function signed(
    name: string,
    sequence: number,
    edit?: (ecf: Document) => void,
  ): Promise<{ xml: string; rfce_xml: string }> {
    const { body } = await world.submit(emission, example(name, sequence, edit), { env: 'CerteCF' });
    return body;
  }

  it('are sent by /submit_ecf with their bytes unchanged, and the answer has the trackId', async () => {
    const { xml } = await signed('ecf-31', 1);
    const { status, body } = await world.submitSigned(emission, '/submit_ecf', xml, token);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        trackId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: 'EnProceso',
        messages: [],
        encf: encf('31', 1),
        qr_url: expect.stringContaining('/testecf/ConsultaTimbre?'),
        security_code: expect.any(String),
        signature_datetime: expect.any(String),
        sequence_used: null,
        warnings: [],
      },
    });
    await world.reaches(encf('31', 1), ['accepted']);
    const again = await world.submitSigned(emission, '/submit_ecf', xml, token);
    expect(again.body).toEqual({ ...body, status: 'Aceptado', sequence_used: true });
    const ledger = await world.ledger(encf('31', 1));
    expect(ledger.filter(({ track_id }) => track_id === body.trackId)).toHaveLength(1);
  });

  it('are refused with a byte order mark, which the authority rejects, and are neither sent nor stored', async () => {
    const { xml } = await signed('ecf-31', 90);
    const { rfce_xml } = await signed('ecf-32', 91);
    for (const query of ['?validate=true', ''])
      for (const [route, document] of [
        ['/submit_ecf', xml],
        ['/submit_fc', rfce_xml],
      ] as const) {
        const { status, body } = await world.submitSigned(emission, route, `\ufeff${document}`, token, { query });
        expect({ status, code: body.code, detail: body.detail }).toEqual({
          status: 400,
          code: 'invalid_xml',
          detail: expect.stringContaining('byte order mark'),
        });
      }
    expect(await world.row(encf('31', 90))).toBeNull();
    expect((await world.submitSigned(emission, '/submit_ecf', xml, token)).status).toBe(200);
  });

  it('are taken with a declaration of ISO-8859-1 where the bytes are ASCII, as by every receiver', async () => {
    const ascii = (ecf: Document) => {
      const letters = JSON.stringify(ecf).normalize('NFD');
      Object.assign(ecf, JSON.parse(letters.replace(/[^ -~]/g, '')));
    };
    const submit = async ({ xml }: { xml: string }) => {
      const declared = `<?xml version="1.0" encoding="ISO-8859-1"?>${xml.replace(/^<\?xml[^>]*>\s*/, '')}`;
      const query = '?validate=true';
      const { status, body } = await world.submitSigned(emission, '/submit_ecf', declared, token, { query });
      return [status, body.status ?? body.code];
    };
    expect(await submit(await signed('ecf-31', 93, ascii))).toEqual([200, 'Validado']);
    expect(await submit(await signed('ecf-31', 96))).toEqual([400, 'invalid_xml']);
  });

  it('are read in a worker, so that other callers are served meanwhile', async () => {
    const { xml } = await signed('ecf-31', 97);
    const threads = { ordinary: 1, large: 1 };
    const documents = createSignedDocuments({
      maxBytes: 1_000_000,
      threads,
      timeoutMs: 60_000,
      watchQueue: () => undefined,
    });
    let turns = 0;
    let reading = true;
    const turn = () => {
      turns++;
      if (reading) setImmediate(turn);
    };
    setImmediate(turn);
    const document = await documents.read(xml, 'ECF', 'TesteCF', new Date());
    reading = false;
    await documents.close();
    expect(document).toMatchObject({ key: { encf: encf('31', 97) }, bytes: Buffer.from(xml) });
    expect(turns).toBeGreaterThan(10);
    await expect(documents.read(xml, 'ECF', 'TesteCF', new Date())).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: expect.any(Number),
    });
  });

  it('are sent unchanged, with a warning of a signature that other software may refuse', async () => {
    const { p12, password } = world.certificate;
    const signedAs = async (sequence: number, change: (text: string) => string) => {
      const text = verifyXml(Buffer.from((await signed('ecf-31', sequence)).xml)).verified?.text ?? '';
      const canonical = change(text);
      return (await signXml({ canonical, output: canonical }, openCertificate(p12, password))).xml;
    };
    const submitted = async (xml: string) => {
      const { status, body } = await world.submitSigned(emission, '/submit_ecf', xml, token);
      const named = body.warnings.map(({ rule, path, severity }: Record<string, string>) => [rule, path, severity]);
      return { status, named, says: body.warnings[0]?.message };
    };
    const warned = { status: 200, named: [['signature.blanks', 'ECF', 'warning']] };
    const indented = await signedAs(101, (text) => text.replaceAll('><', '>\n  <'));
    expect(await submitted(indented)).toEqual({ ...warned, says: expect.stringContaining('blank text') });
    const sent = (await world.ledger(encf('31', 101))).map(({ sha256 }) => sha256);
    expect(sent).toContain(createHash('sha256').update(indented).digest('hex'));
    const carriage = await signedAs(102, (text) => text.replace('</DireccionEmisor>', '&#xD;\n</DireccionEmisor>'));
    expect(await submitted(carriage)).toEqual({ ...warned, says: expect.stringContaining('carriage returns') });
    const later = (await signedAs(103, (text) => text)).replaceAll('><', '>\n  <');
    expect(await submitted(later)).toMatchObject({ status: 200, named: [] });
  });

  it('get a warning of a signing time at which the certificate was not valid yet', async () => {
    const { xml } = await signed('ecf-31', 94, (ecf) => {
      ecf.FechaHoraFirma = '01-01-2001 10:00:00';
    });
    const { body } = await world.submitSigned(emission, '/submit_ecf', xml, token, { query: '?validate=true' });
    expect(body.warnings.map(({ rule }: { rule: string }) => rule)).toEqual(['business.signed-outside-validity']);
    const sent = await world.submit(
      emission,
      example('ecf-31', 95, (ecf) => {
        ecf.FechaHoraFirma = '01-01-2001 10:00:00';
      }),
    );
    expect(sent.body.warnings.map(({ rule }: { rule: string }) => rule)).toEqual(['business.signed-outside-validity']);
    const early = example('ecf-31', 98, (ecf) => {
      ecf.FechaHoraFirma = '01-01-2001 10:00:00';
    });
    const dry = await world.submit(emission, early, { query: '?validate=true' });
    expect(dry.body.warnings.map(({ rule }: { rule: string }) => rule)).toEqual(['business.signed-outside-validity']);
  });

  it('keep the own reference of x-reference', async () => {
    const { xml } = await signed('ecf-31', 170);
    await world.submitSigned(emission, '/submit_ecf', xml, token, { reference: 'order-5' });
    expect(await world.row(encf('31', 170))).toMatchObject({ own_reference: 'order-5' });
  });

  it('are refused with 422 unless they are a string in the body', async () => {
    for (const body of ['{"xml": 1}', '{"xml": null}', '{"xml": ["<ECF/>"]}', '{"xml": ""}', '{}', '[]']) {
      const answer = await world.call(emission, 'POST', '/submit_ecf', {
        body,
        headers: { 'content-type': 'application/json', 'x-token': token },
      });
      expect({ body, status: answer.status }).toEqual({ body, status: 422 });
    }
  });

  it('are decided immediately at /submit_fc, which reminds the caller to keep the full document', async () => {
    const { rfce_xml } = await signed('ecf-32', 2);
    const { status, body } = await world.submitSigned(emission, '/submit_fc', rfce_xml, token);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'Aceptado',
      encf: encf('32', 2),
      signature_datetime: null,
      qr_url: expect.stringContaining('ConsultaTimbreFC'),
      warnings: [{ rule: 'business.full-document-not-kept' }],
    });
    expect(body).not.toHaveProperty('trackId');
    expect(await world.row(encf('32', 2))).toMatchObject({ source: 'signed-rfce', route: 'rfce' });
  });

  it('are refused by /submit_fc with a date that the schema accepts and the calendar does not have', async () => {
    const { rfce_xml } = await signed('ecf-32', 92);
    const canonical = rfce_xml
      .replace(/<\?xml[^>]*>\s*/, '')
      .replace(/<Signature[\s\S]*<\/Signature>/, '')
      .replace(/(<FechaEmision>)../, '$11$$');
    const { p12, password } = world.certificate;
    const { xml } = await signXml({ canonical, output: canonical }, openCertificate(p12, password, new Date()));
    const { status, body } = await world.submitSigned(emission, '/submit_fc', xml, token);
    expect([status, body.faults?.map(({ rule }: { rule: string }) => rule)]).toEqual([400, ['schema.type']]);
    expect(await world.row(encf('32', 92))).toBeNull();
  });

  it('are refused at the endpoint of the other kind', async () => {
    const small = await signed('ecf-32', 3);
    const full = await world.submitSigned(emission, '/submit_ecf', small.xml, token);
    expect([full.status, full.body.code]).toEqual([400, 'wrong_endpoint']);
    expect((await world.submitSigned(emission, '/submit_ecf', small.rfce_xml, token)).body.code).toBe(
      'invalid_document',
    );
    expect((await world.submitSigned(emission, '/submit_fc', small.xml, token)).body.code).toBe('invalid_document');
    expect(await world.row(encf('32', 3))).toBeNull();
  });

  it('are refused if they were changed after they were signed', async () => {
    const { xml } = await signed('ecf-31', 4);
    const { status, body } = await world.submitSigned(
      emission,
      '/submit_ecf',
      xml.replace('11430.00<', '11431.00<'),
      token,
    );
    expect([status, body.code]).toEqual([400, 'invalid_xml']);
    expect(body.messages).toEqual([expect.stringContaining('signature')]);
    expect(await world.row(encf('31', 4))).toBeNull();
  });

  it('are refused unless the issuer is a taxpayer of the account', async () => {
    world.register(OTHER_ISSUER, world.certificate, { account_id: 'account-2' });
    const { xml } = await signed('ecf-31', 5);
    world.taxpayers.delete(OTHER_ISSUER);
    const foreign = await world.call(emission, 'POST', '/submit_ecf', {
      identity: world.identity('TesteCF', 'account-3'),
      body: JSON.stringify({ xml }),
      headers: { 'content-type': 'application/json', 'x-token': token },
    });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'taxpayer_not_found']);
    const json = example('ecf-31', 5, (ecf) => {
      ecf.Encabezado.Emisor.RNCEmisor = OTHER_ISSUER;
    });
    expect((await world.submit(emission, json)).status).toBe(404);
  });

  it('are refused with an expired token before they are stored', async () => {
    const { xml } = await signed('ecf-31', 6);
    const expired = `h.${Buffer.from(JSON.stringify({ exp: 1_000 })).toString('base64url')}.s`;
    for (const query of ['?validate=true', '']) {
      const { status, body } = await world.submitSigned(emission, '/submit_ecf', xml, expired, { query });
      expect([status, body.code]).toEqual([401, 'invalid_token']);
    }
    expect(await world.row(encf('31', 6))).toBeNull();
  });

  it.each([
    ['/submit_ecf', 'ecf-31', 7],
    ['/submit_fc', 'ecf-32', 7],
  ] as const)(
    'at %s are withdrawn and free their number if the authority refuses the token',
    async (route, name, sequence) => {
      const { xml, rfce_xml } = await signed(name, sequence);
      const document = route === '/submit_ecf' ? xml : rfce_xml;
      const number = encf(name === 'ecf-31' ? '31' : '32', sequence);
      const { status, body } = await world.submitSigned(emission, route, document, 'not-a-token');
      expect([status, body.code]).toEqual([401, 'invalid_token']);
      expect(await world.row(number)).toMatchObject({ state: 'withdrawn', next_action_at: null });
      const numbers = [{ issuer_rnc: ISSUER, encf: number }];
      const { invoices } = await emission.emission.internal.findInvoices({ env: 'TesteCF', numbers });
      expect(invoices).toMatchObject([
        {
          status: 'Rechazado',
          code: null,
          sequence_used: false,
          messages: [{ valor: expect.stringContaining('x-token') }],
        },
      ]);
      const again = await world.submitSigned(emission, route, document, token);
      expect(again.status).toBe(200);
      await world.reaches(number, ['accepted']);
      expect((await world.row(number))?.attempt).toBe(2);
    },
  );

  it('may take the number of a withdrawn document', async () => {
    const { xml } = await signed('ecf-31', 8);
    await world.submitSigned(emission, '/submit_ecf', xml, 'not-a-token');
    const other = example('ecf-31', 8, (ecf) => {
      ecf.Encabezado.Comprador.ContactoComprador = 'Otra persona';
    });
    expect((await world.submit(emission, other)).body.status).toBe('Aceptado');
  });

  it('get EnProceso from /submit_ecf if they are notes that wait for their document, which the answer names', async () => {
    const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
    const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
    await world.submit(quick, example('ecf-31', 70));
    const { body } = await world.submit(quick, creditNote(70, encf('31', 70), '5.00'), { env: 'CerteCF' });
    for (let times = 0; times < 2; times += 1) {
      const answer = await world.submitSigned(quick, '/submit_ecf', body.xml, token);
      expect(answer).toMatchObject({
        status: 200,
        body: {
          status: 'EnProceso',
          trackId: null,
          messages: [{ codigo: '', valor: expect.stringContaining(`accepts ${encf('31', 70)}`) }],
        },
      });
    }
    await world.clearFaults(id);
    await world.reaches(encf('31', 70), ['accepted']);
  });

  it('get 408 from /submit_ecf while the authority does not answer, and the trackId once it is known', async () => {
    const { xml } = await signed('ecf-31', 9);
    await world.fault({ operation: 'recepcion', kind: 'timeout-after', times: 1 });
    await world.fault({ operation: 'consultatrackids', kind: 'http', status: 503, body: 'x' });
    const first = await world.submitSigned(emission, '/submit_ecf', xml, token);
    expect([first.status, first.body.code, Number(first.headers.get('retry-after')) > 0]).toEqual([
      408,
      'authority_timeout',
      true,
    ]);
    expect((await world.submitSigned(emission, '/submit_ecf', xml, token)).status).toBe(408);
    await world.clearFaults();
    await world.reaches(encf('31', 9), ['accepted']);
    const known = await world.submitSigned(emission, '/submit_ecf', xml, token);
    expect(known).toMatchObject({ status: 200, body: { trackId: expect.any(String), status: 'Aceptado' } });
    const ledger = (await world.ledger(encf('31', 9))).filter(({ track_id }) => track_id === known.body.trackId);
    expect(ledger).toHaveLength(1);
  });

  it('get 200 EnProceso from /submit_fc while the authority does not answer', async () => {
    const { rfce_xml } = await signed('ecf-32', 10);
    await world.fault({ operation: 'recepcionfc', kind: 'reset-after', times: 1 });
    const { status, body } = await world.submitSigned(emission, '/submit_fc', rfce_xml, token);
    expect([status, body.status]).toEqual([200, 'EnProceso']);
    await world.reaches(encf('32', 10), ['accepted']);
  });

  it('get 401 for a refused token and stay in progress while an earlier send is undecided', async () => {
    const { xml } = await signed('ecf-31', 13);
    await world.fault({ operation: 'recepcion', kind: 'timeout-after', times: 1 });
    const id = await world.fault({ operation: 'consultatrackids', kind: 'http', status: 503, body: 'x' });
    expect((await world.submitSigned(emission, '/submit_ecf', xml, token)).status).toBe(408);
    await world.clearFaults(id);
    const hidden = await world.fault({
      operation: 'consultatrackids',
      kind: 'http',
      status: 401,
      body: '',
    });
    const answers = await Promise.all(
      ['not-a-token', `h.${Buffer.from('{"exp":1}').toString('base64url')}.s`].map((bad) =>
        world.submitSigned(emission, '/submit_ecf', xml, bad),
      ),
    );
    for (const { status } of answers) expect([401, 408]).toContain(status);
    expect((await world.row(encf('31', 13)))?.state).toBe('unknown');
    await world.clearFaults(hidden);
    await world.reaches(encf('31', 13), ['accepted']);
    expect(await world.ledger(encf('31', 13))).toHaveLength(1 + 1);
  });

  it('are sent again by /submit_fc after code 004', async () => {
    const { rfce_xml } = await signed('ecf-32', 14);
    await world.fault({
      operation: 'recepcionfc',
      kind: 'http',
      times: 2,
      status: 200,
      body: JSON.stringify({
        codigo: 2,
        estado: 'Rechazado',
        mensajes: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
        secuenciaUtilizada: false,
      }),
    });
    const { status, body } = await world.submitSigned(emission, '/submit_fc', rfce_xml, token);
    expect([status, body.status]).toEqual([200, 'Aceptado']);
  });

  it('are looked up and sent again by a repeat without a stored certificate, which raises an alarm', async () => {
    const bare = await world.start();
    world.register(BUYER, world.issue('00200000008'));
    const { body } = await world.submit(
      bare,
      example('ecf-31', 11, (ecf) => {
        ecf.Encabezado.Emisor.RNCEmisor = BUYER;
        ecf.Encabezado.Comprador.RNCComprador = '199999991';
      }),
      { env: 'CerteCF' },
    );
    world.register(BUYER, null);
    await world.fault({ operation: 'recepcion', kind: 'reset', times: 1 });
    const first = await world.submitSigned(bare, '/submit_ecf', body.xml, token);
    expect(first.status).toBe(408);
    for (let waited = 0; (await world.row(encf('31', 11)))?.alarm !== 'no-certificate' && waited < 2_400; waited += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(await world.row(encf('31', 11))).toMatchObject({ state: 'unknown', alarm: 'no-certificate' });
    const statuses: number[] = [];
    for (let tries = 0; tries < 60 && statuses.at(-1) !== 200; tries += 1) {
      statuses.push((await world.submitSigned(bare, '/submit_ecf', body.xml, token)).status);
      await new Promise((resolve) => setTimeout(resolve, 220));
    }
    expect(statuses.at(-1)).toBe(200);
    let answer = await world.submitSigned(bare, '/submit_ecf', body.xml, token);
    for (let tries = 0; tries < 600 && answer.body.status === 'EnProceso'; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      answer = await world.submitSigned(bare, '/submit_ecf', body.xml, token);
    }
    expect(answer.body).toMatchObject({ status: 'Aceptado', sequence_used: true });
    const sent = await world.ledger(encf('31', 11));
    expect(sent.filter(({ status }) => status !== '').length).toBeGreaterThan(0);
  });

  it('are not sent another time by repeats during the work of the background', async () => {
    const documents = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const { xml, rfce_xml } = await signed(index % 2 === 0 ? 'ecf-31' : 'ecf-32', 30 + index);
        return index % 2 === 0
          ? ({ route: '/submit_ecf', xml, number: encf('31', 30 + index) } as const)
          : ({ route: '/submit_fc', xml: rfce_xml, number: encf('32', 30 + index) } as const);
      }),
    );
    await world.fault({ operation: 'recepcion', kind: 'reset', times: 6 });
    await world.fault({ operation: 'recepcionfc', kind: 'reset', times: 6 });
    await Promise.all(
      documents.map(async ({ route, xml, number }) => {
        await world.submitSigned(emission, route, xml, token);
        const repeats = Array.from({ length: 5 }, async () => {
          for (let tries = 0; tries < 2_400; tries += 1) {
            const { body } = await world.submitSigned(emission, route, xml, token);
            if (body.status === 'Aceptado') return;
          }
        });
        await Promise.all(repeats);
        await world.reaches(number, ['accepted']);
      }),
    );
    for (const { number } of documents) {
      const sent = (await world.ledger(number)).filter((row) => (row as unknown as { env: string }).env === 'TesteCF');
      expect([number, sent.length]).toEqual([number, 1]);
    }
  });

  it('need x-token and a body {"xml": ...}', async () => {
    const post = (init: RequestInit) => world.call(emission, 'POST', '/submit_ecf', init);
    const json = { 'content-type': 'application/json' };
    const cases: [RequestInit, number, string][] = [
      [{ headers: json, body: '{"xml":"<a/>"}' }, 422, 'validation_error'],
      [{ headers: { ...json, 'x-token': ' ' }, body: '{"xml":"<a/>"}' }, 422, 'validation_error'],
      [{ headers: { ...json, 'x-token': 't' }, body: '{"xml":true}' }, 422, 'validation_error'],
      [{ headers: { ...json, 'x-token': 't' }, body: '{}' }, 422, 'validation_error'],
      [{ headers: { ...json, 'x-token': 't' }, body: '[]' }, 422, 'validation_error'],
      [{ headers: { ...json, 'x-token': 't' }, body: '{"xml":' }, 400, 'invalid_json'],
      [
        { headers: { ...json, 'x-token': 't' }, body: `{"xml":"nada","more":[${new Array(1_000).fill(1)}]}` },
        400,
        'invalid_json',
      ],
      [{ headers: { ...json, 'x-token': 't' }, body: '{"xml":"nada"}' }, 400, 'invalid_xml'],
      [{ headers: { ...json, 'x-token': 't' }, body: '{"xml":"<!DOCTYPE a><a/>"}' }, 400, 'invalid_xml'],
      [{ headers: { ...json, 'x-token': 't' }, body: '{"xml":"<ECF/>"}' }, 400, 'invalid_xml'],
      [{ headers: { 'content-type': 'text/xml', 'x-token': 't' }, body: '<ECF/>' }, 415, 'unsupported_media_type'],
    ];
    for (const [init, status, code] of cases) {
      const answer = await post(init);
      expect([init.body, answer.status, answer.body.code]).toEqual([init.body, status, code]);
    }
  });

  it('are only checked if validate=true', async () => {
    const { xml } = await signed('ecf-31', 12);
    const { status, body } = await world.submitSigned(emission, '/submit_ecf', xml, token, { query: '?validate=true' });
    expect([status, body.status, body.trackId]).toEqual([200, 'Validado', null]);
    expect(await world.row(encf('31', 12))).toBeNull();
  });
});
