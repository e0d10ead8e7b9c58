import { createHash } from 'node:crypto';
import { createInProcessBus } from '@ecf/bus';
import { invoiceChangedSchema } from '@ecf/contracts';
import { silentLogger } from '@ecf/test-support/services';
import { verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BUYER, creditNote, encf, example, ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

describe('POST /fe_Submit', () => {
  let world: World;
  let emission: Instance;
  const published = new Map<string, ReturnType<typeof invoiceChangedSchema.parse>[]>();

  beforeAll(async () => {
    const bus = createInProcessBus({ logger: silentLogger });
    await bus.subscribe({
      topics: ['invoices.v1'],
      group: 'test',
      handler: async ({ data }) => {
        const invoice = invoiceChangedSchema.parse(data);
        published.set(invoice.encf, [...(published.get(invoice.encf) ?? []), invoice]);
      },
    });
    world = await World.create();
    emission = await world.start({ bus });
  });
  afterAll(() => world.stop());

  it('turns invoice JSON into an accepted e-CF', async () => {
    const { status, body } = await world.submit(emission, example('ecf-31', 1));
    expect({ status, body: { ...body, xml: '' } }).toEqual({
      status: 200,
      body: {
        status: 'Aceptado',
        xml: '',
        trackId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        qr_url: expect.stringContaining(`ConsultaTimbre?RncEmisor=${ISSUER}`),
        messages: [],
        encf: encf('31', 1),
        security_code: expect.stringMatching(/^[A-Za-z0-9+/]{6}$/),
        signature_datetime: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
        sequence_used: true,
        warnings: [],
      },
    });
    expect(verifyXml(Buffer.from(body.xml)).signature).toBe('valid');
    expect(body.xml).toContain(`<FechaHoraFirma>${body.signature_datetime.slice(8, 10)}-`);

    const ledger = await world.ledger(encf('31', 1));
    expect(ledger.map(({ status: word, effective }) => [word, effective])).toEqual([['Aceptado', true]]);
    const row = await world.row(encf('31', 1));
    const stored = await world.stored(row?.xml_path as string, row?.xml_sha256 as string);
    expect(stored.toString()).toBe(body.xml);
    const sha256 = createHash('sha256').update(stored).digest('hex');
    expect([row?.xml_sha256, ledger[0]?.sha256]).toEqual([sha256, sha256]);
    expect(row?.xml_path).toMatch(
      new RegExp(`^TesteCF/ecf/${ISSUER}/issued/\\d{4}/\\d{2}/${ISSUER}E310000000001-[0-9a-f]{12}\\.xml$`),
    );
  });

  it('publishes each change in order, with the whole state', async () => {
    await world.submit(emission, example('ecf-31', 2));
    for (let waited = 0; (published.get(encf('31', 2))?.length ?? 0) < 3 && waited < 2_400; waited += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const events = published.get(encf('31', 2)) ?? [];
    expect(events.map(({ state, status, final }) => [state, status, final])).toEqual([
      ['sending', 'EnProceso', false],
      ['processing', 'EnProceso', false],
      ['accepted', 'Aceptado', true],
    ]);
    const revisions = events.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((one, other) => one - other));
    expect(events.at(-1)).toMatchObject({
      account_id: world.accountId,
      route: 'ecf',
      total_amount: '11430.00',
      total_itbis: '1630.00',
      buyer_rnc: '188888885',
      date_issued: '2026-06-15',
      track_id: expect.any(String),
      sequence_used: true,
      attempts: [{ attempt: 1, status: 'Aceptado', final: true }],
    });
  });

  it('sends a type 32 under 250,000 as a summary, which the authority decides in its answer', async () => {
    const { status, body } = await world.submit(emission, example('ecf-32', 3));
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'Aceptado', encf: encf('32', 3), sequence_used: true });
    expect(body).not.toHaveProperty('trackId');
    expect(body.qr_url).toContain('https://fc.dgii.gov.do/testecf/ConsultaTimbreFC?');
    expect(body.xml).toContain('<ECF ');
    expect(body.rfce_xml).toContain(
      `<CodigoSeguridadeCF>${body.security_code.replace('&', '&amp;')}</CodigoSeguridadeCF>`,
    );
    expect(verifyXml(Buffer.from(body.rfce_xml)).signature).toBe('valid');
    const ledger = await world.ledger(encf('32', 3));
    expect(ledger.map(({ operation, effective }) => [operation, effective])).toEqual([['recepcionfc', true]]);
    const row = await world.row(encf('32', 3));
    for (const [file, sha256, text] of [
      [row?.xml_path, row?.xml_sha256, body.xml],
      [row?.rfce_path, row?.rfce_sha256, body.rfce_xml],
    ])
      expect((await world.stored(file, sha256)).toString()).toBe(text);
  });

  it('sends a type 32 of 250,000 or more as a full document', async () => {
    const { body } = await world.submit(emission, example('ecf-32-large', 4));
    expect(body).toMatchObject({ status: 'Aceptado', trackId: expect.any(String) });
    expect(body).not.toHaveProperty('rfce_xml');
  });

  it('accepts the part data as a file too, whatever its content type', async () => {
    for (const [sequence, type] of [
      [5, 'application/json'],
      [6, 'text/plain; charset=utf-8'],
      [7, ''],
    ] as const) {
      const form = new FormData();
      form.set('data', new Blob([JSON.stringify(example('ecf-31', sequence))], { type }), 'factura.json');
      const { status, body } = await world.call(emission, 'POST', '/fe_Submit', { body: form });
      expect([status, body.status]).toEqual([200, 'Aceptado']);
    }
  });

  it('keeps the FechaHoraFirma of the document', async () => {
    const document = example('ecf-31', 8, (ecf) => {
      ecf.FechaHoraFirma = '15-06-2026 08:30:00';
    });
    const { body } = await world.submit(emission, document);
    expect(body.signature_datetime).toBe('2026-06-15 08:30:00');
    expect(body.xml).toContain('<FechaHoraFirma>15-06-2026 08:30:00</FechaHoraFirma>');
  });

  it('passes text through unchanged and escapes it as XML needs', async () => {
    const document = example('ecf-31', 9, (ecf) => {
      ecf.DetallesItems.Item[0].NombreItem = ' Ñandú "5" &amp; <b> &copy; ';
    });
    const { body } = await world.submit(emission, document);
    expect(body.xml).toContain('<NombreItem> Ñandú &quot;5&quot; &amp; &lt;b&gt; © </NombreItem>');
    expect(body.status).toBe('Aceptado');
  });

  it('replaces carriage returns by line feeds, omits values that are blank, and warns of both', async () => {
    const document = example('ecf-31', 33, (ecf) => {
      ecf.Encabezado.Emisor.DireccionEmisor = 'Calle Uno 1\r\nEdificio Dos';
      ecf.Encabezado.Emisor.NombreComercial = ' \r\n';
    });
    const { status, body } = await world.submit(emission, document);
    expect([status, body.status]).toEqual([200, 'Aceptado']);
    expect(body.xml).toContain('<DireccionEmisor>Calle Uno 1\nEdificio Dos</DireccionEmisor>');
    expect(body.xml).not.toContain('NombreComercial');
    const named = body.warnings.map(({ rule, path }: { rule: string; path: string }) => `${rule} ${path}`);
    expect(named).toEqual([
      'schema.blanks ECF.Encabezado.Emisor.NombreComercial',
      'schema.carriage-return ECF.Encabezado.Emisor.DireccionEmisor',
    ]);
  });

  it('refuses a number where leading zeros count, before the eNCF is used', async () => {
    const document = example('ecf-31', 34, (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = 120000229;
    });
    const { status, body } = await world.submit(emission, document);
    expect([status, body.code]).toEqual([400, 'invalid_document']);
    expect(body.faults).toEqual([
      expect.objectContaining({
        rule: 'schema.text-expected',
        path: 'ECF.Encabezado.Comprador.RNCComprador',
        message: 'RNCComprador is the number 120000229; send it as text: a number loses its leading zeros.',
      }),
    ]);
    expect(await world.row(encf('31', 34))).toBeNull();
  });

  it('does not wait if STATUS_WAIT_MS is 0, and the background gets the verdict', async () => {
    const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
    const { body } = await world.submit(quick, example('ecf-31', 10));
    expect(body).toMatchObject({ status: 'EnProceso', trackId: expect.any(String), sequence_used: null });
    await world.reaches(encf('31', 10), ['accepted']);
    const again = await world.submit(quick, example('ecf-31', 10));
    expect(again.body).toEqual({ ...body, status: 'Aceptado', sequence_used: true, messages: [] });
  });

  let sequence = 20;
  it.each([
    [
      'AceptadoCondicional',
      {
        codigo: '4',
        estado: 'Aceptado Condicional',
        mensajes: [{ codigo: 1934, valor: 'x' }],
        secuenciaUtilizada: true,
      },
      true,
    ],
    [
      'Rechazado',
      { codigo: '2', estado: 'Rechazado', mensajes: [{ codigo: 615, valor: 'saldo' }], secuenciaUtilizada: true },
      true,
    ],
    [
      'Rechazado',
      { codigo: '2', estado: 'Rechazado', mensajes: [{ codigo: 1, valor: 'formato' }], secuenciaUtilizada: false },
      false,
    ],
    [
      'Rechazado',
      { codigo: '2', estado: 'Rechazado', mensajes: [{ codigo: 1209, valor: 'usado' }], secuenciaUtilizada: false },
      true,
    ],
  ])('reports the verdict %s with its messages (%j)', async (status, verdict, used) => {
    sequence += 1;
    // Both queries get the same answer, because the background may query at the same time as the caller.
    await world.fault({ operation: 'consultaresultado', kind: 'verdict', verdict });
    const { body } = await world.submit(emission, example('ecf-31', sequence));
    const messages = verdict.mensajes.map(({ codigo, valor }) => ({ codigo: String(codigo), valor }));
    expect(body).toMatchObject({ status, messages, sequence_used: used });
    await world.clearFaults();
  });

  it('reports grounds for conditional acceptance as warnings, and does not block the document', async () => {
    const document = example('ecf-31', 30, (ecf) => {
      ecf.Encabezado.Totales.MontoTotal = '11437.00';
    });
    const { status, body } = await world.submit(emission, document);
    expect(status).toBe(200);
    expect(body.warnings.length).toBeGreaterThan(0);
    expect(body.warnings[0]).toEqual({
      path: expect.stringContaining('ECF.'),
      rule: expect.stringMatching(/^business\./),
      code: expect.anything(),
      message: expect.any(String),
      source: expect.any(String),
      severity: 'warning',
    });
  });

  describe('with warnings=refuse', () => {
    const unbalanced = (sequence: number) =>
      example('ecf-31', sequence, (ecf) => {
        ecf.Encabezado.Totales.MontoTotal = '11437.00';
      });

    it('refuses a document for its warnings before its number is used', async () => {
      const { status, body } = await world.submit(emission, unbalanced(60), { query: '?warnings=refuse' });
      expect([status, body.code, body.detail]).toEqual([
        400,
        'invalid_document',
        expect.stringContaining('warnings=accept'),
      ]);
      expect(body.faults.map(({ severity }: { severity: string }) => severity)).toContain('warning');
      expect(await world.row(encf('31', 60))).toBeNull();
      expect(await world.ledger(encf('31', 60))).toEqual([]);
      const accepted = await world.submit(emission, unbalanced(60));
      expect(accepted.body.warnings).toEqual(body.faults);
    });

    it('refuses the dry run of such a document too', async () => {
      const { status, body } = await world.submit(emission, unbalanced(61), {
        query: '?validate=true&warnings=refuse',
      });
      expect([status, body.faults[0].severity]).toEqual([400, 'warning']);
    });

    it('accepts a document without warnings, and answers a repeat with its warnings from the store', async () => {
      const clean = await world.submit(emission, example('ecf-31', 62), { query: '?warnings=refuse' });
      expect([clean.status, clean.body.warnings]).toEqual([200, []]);
      const first = await world.submit(emission, unbalanced(63));
      const repeat = await world.submit(emission, unbalanced(63), { query: '?warnings=refuse' });
      expect([repeat.status, repeat.body]).toEqual([200, first.body]);
    });

    it('refuses a note whose document is not decided, instead of holding it', async () => {
      const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
      const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
      await world.submit(quick, example('ecf-31', 64));
      const note = creditNote(64, encf('31', 64), '5.00');
      const { status, body } = await world.submit(quick, note, { query: '?warnings=refuse' });
      expect([status, body.faults[0].rule]).toEqual([400, 'business.reference-pending']);
      expect(await world.row(encf('34', 64))).toBeNull();
      await world.clearFaults(id);
    });

    it('draws no number for a document that it refuses', async () => {
      const ranges = [
        { env: 'TesteCF', ecf_type: '45', from: encf('45', 1), to: encf('45', 5), expires: '2028-12-31' },
      ] as const;
      world.ranges(ISSUER, [...ranges]);
      const open = example('ecf-45', 1, (ecf) => {
        delete ecf.Encabezado.IdDoc.eNCF;
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2028';
        ecf.Encabezado.Comprador.RNCComprador = '131880600';
      });
      const refused = await world.submit(emission, open, { query: '?warnings=refuse', key: 'strict' });
      expect([refused.status, refused.body.faults[0].severity]).toEqual([400, 'warning']);
      const blank = example('ecf-45', 1, (ecf) => {
        ecf.Encabezado.IdDoc.eNCF = '  ';
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2028';
      });
      const warned = await world.submit(emission, blank, { query: '?warnings=refuse', key: 'blank' });
      expect(warned.body.faults).toMatchObject([{ rule: 'schema.blanks', path: 'ECF.Encabezado.IdDoc.eNCF' }]);
      const issued = await world.submit(emission, open, { key: 'strict' });
      expect([issued.status, issued.body.encf]).toEqual([200, encf('45', 1)]);
      world.ranges(ISSUER, []);
    });

    it('is the default of an API key that refuses warnings, and a request can override it', async () => {
      const identity = JSON.stringify({ ...JSON.parse(world.identity()), refuse_warnings: true });
      const submit = (query: string) => world.submit(emission, unbalanced(65), { query, identity });
      expect((await submit('?validate=true')).body.faults[0].severity).toBe('warning');
      expect((await submit('?validate=true&warnings=accept')).status).toBe(200);
      expect((await submit('?warnings=maybe')).status).toBe(422);
    });
  });

  it('takes a document as a JSON body, with the faults and limits of the form', async () => {
    const submit = (body: string, type = 'application/json') =>
      world.call(emission, 'POST', '/fe_Submit', { body, headers: { 'content-type': type } });
    const text = JSON.stringify(example('ecf-31', 66));
    const first = await submit(text);
    expect([first.status, first.body.status]).toEqual([200, 'Aceptado']);
    expect((await world.submit(emission, text)).body).toEqual(first.body);
    expect((await submit('{"ECF": ')).body.code).toBe('invalid_json');
    expect((await submit('{"ECF":{},"ECF":{}}')).body.code).toBe('invalid_json');
    expect((await submit(text, 'application/json; charset=latin1')).status).toBe(415);
    expect((await submit(text, 'text/plain')).body.detail).toMatch(/multipart\/form-data.*application\/json/);
    expect((await submit(`${text}${' '.repeat(world.config.MAX_BODY_BYTES)}`)).status).toBe(413);
  });

  it('only checks the document if validate=true, and does not sign, store or send it', async () => {
    const { status, body } = await world.submit(emission, example('ecf-31', 31), { query: '?validate=true' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'Validado',
      encf: encf('31', 31),
      qr_url: null,
      security_code: null,
      warnings: [],
    });
    expect(body.xml).not.toContain('Signature');
    expect(await world.row(encf('31', 31))).toBeNull();
    expect(await world.ledger(encf('31', 31))).toEqual([]);
    const faulty = example('ecf-31', 31, (ecf) => {
      delete ecf.Encabezado.Emisor.RNCEmisor;
    });
    expect((await world.submit(emission, faulty, { query: '?validate=true' })).status).toBe(400);
    expect(
      (
        await world.submit(
          emission,
          example('ecf-31', 1, (ecf) => {
            ecf.Encabezado.Comprador.ContactoComprador = 'Otra persona';
          }),
          { query: '?validate=true' },
        )
      ).status,
    ).toBe(409);
  });

  it('keeps environments apart', async () => {
    const [test, certification] = [
      await world.submit(emission, example('ecf-31', 32)),
      await world.submit(emission, example('ecf-31', 32), { env: 'CerteCF' }),
    ];
    expect([test.status, certification.status]).toEqual([200, 200]);
    expect(certification.body.trackId).not.toBe(test.body.trackId);
    expect(certification.body.qr_url).toContain('/certecf/');
  });

  it('checks number and expiry against registered ranges', async () => {
    world.ranges(ISSUER, [
      { env: 'TesteCF', ecf_type: '44', from: encf('44', 1), to: encf('44', 5), expires: '2027-12-31' },
    ]);
    const { status, body } = await world.submit(emission, example('ecf-44', 6));
    expect([status, body.code]).toEqual([400, 'invalid_document']);
    expect(body.faults.map(({ rule }: { rule: string }) => rule)).toEqual(['business.number-not-in-range']);
    const expiry = await world.submit(emission, example('ecf-44', 5));
    expect(expiry.body.faults.map(({ path: place, code }: { path: string; code: string }) => [place, code])).toEqual([
      ['ECF.Encabezado.IdDoc.FechaVencimientoSecuencia', '145'],
    ]);
    expect((await world.submit(emission, example('ecf-45', 6))).status).toBe(200);
    world.ranges(ISSUER, []);
  });

  describe('notes on our documents', () => {
    const note = (sequence: number, modified: number, total: string, edit?: (ecf: never) => void) =>
      creditNote(sequence, encf('31', modified), total, edit as never);

    it('are accepted after their document is', async () => {
      await world.submit(emission, example('ecf-31', 40));
      const { status, body } = await world.submit(emission, note(40, 40, '400.00'));
      expect({ status, answer: [body.status, body.messages, body.faults] }).toEqual({
        status: 200,
        answer: ['Aceptado', [], undefined],
      });
    });

    it('are refused before a number is used if buyer, date or balance do not fit', async () => {
      await world.submit(emission, example('ecf-31', 41));
      const faults = async (document: unknown) => {
        const { status, body } = await world.submit(emission, document);
        expect([status, await world.row(encf('34', 41))]).toEqual([400, null]);
        return body.faults.map(({ rule, code }: { rule: string; code: string }) => [rule, code]);
      };
      expect(
        await faults(
          note(41, 41, '10.00', (ecf: { Encabezado: { Comprador: { RNCComprador: string } } }) => {
            ecf.Encabezado.Comprador.RNCComprador = '131880681';
          }),
        ),
      ).toContainEqual(['business.reference-buyer', '615']);
      expect(
        await faults(
          note(41, 41, '10.00', (ecf: { InformacionReferencia: { FechaNCFModificado: string } }) => {
            ecf.InformacionReferencia.FechaNCFModificado = '14-06-2026';
          }),
        ),
      ).toContainEqual(['business.reference-date', '634']);
      expect(await faults(note(41, 41, '11430.01'))).toEqual([['business.reference-balance', '615']]);
      expect((await world.submit(emission, note(42, 41, '11000.00'))).body.status).toBe('Aceptado');
      expect(await faults(note(41, 41, '430.01'))).toEqual([['business.reference-balance', '615']]);
      expect((await world.submit(emission, note(43, 41, '430.00'))).body.status).toBe('Aceptado');
    });

    it('on the whole balance, sent at the same moment, are accepted once and refused once, before a number is used', async () => {
      await world.submit(emission, example('ecf-31', 67));
      const both = await Promise.all(
        [65, 66].map((sequence) => world.submit(emission, note(sequence, 67, '11430.00'))),
      );
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
      for (const [index, { status, body }] of both.entries()) {
        const sent = await world.ledger(encf('34', 65 + index));
        expect([status, sent.length, body.status ?? body.faults[0].code]).toEqual(
          status === 200 ? [200, 1, 'Aceptado'] : [400, 0, '615'],
        );
      }
    });

    it('on the whole balance, sent to two instances, are checked again, and the later one is refused', async () => {
      await world.submit(emission, example('ecf-31', 69));
      let checked: () => void = () => undefined;
      const isChecked = new Promise<void>((resolve) => {
        checked = resolve;
      });
      let go: () => void = () => undefined;
      const mayGo = new Promise<void>((resolve) => {
        go = resolve;
      });
      const slow = await world.start({
        async checkpoint(step) {
          if (step !== 'signed') return;
          checked();
          await mayGo;
        },
      });
      const late = world.submit(slow, note(68, 69, '11430.00'));
      await isChecked;
      expect((await world.submit(emission, note(69, 69, '11430.00'))).body.status).toBe('Aceptado');
      go();
      const { status, body } = await late;
      expect([status, body.faults[0].code]).toEqual([400, '615']);
      expect(await world.row(encf('34', 68))).toBeNull();
      expect(await world.ledger(encf('34', 68))).toEqual([]);
    });

    it('sent to two instances at the same moment are accepted up to the balance', async () => {
      await world.submit(emission, example('ecf-31', 71));
      const second = await world.start();
      const notes = Array.from({ length: 8 }, (_, index) =>
        world.submit(index % 2 === 0 ? emission : second, note(72 + index, 71, '3810.00')),
      );
      const answers = (await Promise.all(notes)).map(
        ({ status, body }) => body.faults?.[0].code ?? body.status ?? status,
      );
      expect(answers.sort()).toEqual([...Array(5).fill('615'), ...Array(3).fill('Aceptado')]);
    });

    it('get a warning if their document was never issued in a registered range, or was issued by another taxpayer', async () => {
      const rules = async (number: string, issuer = ISSUER, taxpayers?: string[]) => {
        const note = creditNote(90, number, '5.00', (ecf) => {
          ecf.Encabezado.Emisor.RNCEmisor = issuer;
        });
        const identity = world.identity('TesteCF', world.accountId, taxpayers);
        const { status, body } = await world.submit(emission, note, { query: '?validate=true', identity });
        expect(status).toBe(200);
        return body.warnings
          .map(({ rule }: { rule: string }) => rule)
          .filter((rule: string) => rule.startsWith('business.reference-'));
      };
      world.ranges(ISSUER, [
        { env: 'TesteCF', ecf_type: '31', from: encf('31', 1), to: encf('31', 900), expires: '2028-12-31' },
      ]);
      await world.submit(emission, example('ecf-31', 91));
      expect(await rules(encf('31', 91))).toEqual([]);
      expect(await rules(encf('31', 92))).toEqual(['business.reference-never-issued']);
      expect(await rules(encf('31', 901))).toEqual([]);
      expect(await rules(encf('31', 91), BUYER)).toEqual(['business.reference-of-another']);
      expect(await rules(encf('31', 91), BUYER, [BUYER])).toEqual([]);
      world.ranges(ISSUER, []);
    });

    it('are held until their document is accepted', async () => {
      const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
      const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
      await world.submit(quick, example('ecf-31', 44));
      const { body } = await world.submit(quick, note(44, 44, '5.00'));
      expect(body).toMatchObject({
        status: 'EnProceso',
        trackId: null,
        messages: [{ codigo: '', valor: expect.stringContaining(`accepts ${encf('31', 44)}`) }],
        warnings: [{ rule: 'business.reference-pending' }],
      });
      expect((await world.row(encf('34', 44)))?.state).toBe('held');
      expect(await world.ledger(encf('34', 44))).toEqual([]);
      await world.clearFaults(id);
      await world.reaches(encf('31', 44), ['accepted']);
      await world.reaches(encf('34', 44), ['accepted']);
      const again = await world.submit(quick, note(44, 44, '5.00'));
      expect(again.body).toMatchObject({
        status: 'Aceptado',
        trackId: expect.any(String),
        messages: [],
        security_code: body.security_code,
      });
    });

    it('are withdrawn and free their number when their document is rejected', async () => {
      const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
      const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
      await world.submit(quick, example('ecf-31', 45));
      await world.submit(quick, note(45, 45, '5.00'));
      await world.fault({
        operation: 'consultaresultado',
        kind: 'verdict',
        verdict: {
          codigo: '2',
          estado: 'Rechazado',
          mensajes: [{ codigo: 1385, valor: 'x' }],
          secuenciaUtilizada: true,
        },
      });
      const numbers = [{ issuer_rnc: ISSUER, encf: encf('34', 45) }];
      const told = async () => (await emission.emission.internal.findInvoices({ env: 'TesteCF', numbers })).invoices[0];
      expect(await told()).toMatchObject({
        status: 'EnProceso',
        messages: [{ valor: expect.stringContaining(encf('31', 45)) }],
      });
      await world.clearFaults(id);
      await world.reaches(encf('34', 45), ['withdrawn']);
      expect(await told()).toMatchObject({
        status: 'Rechazado',
        code: null,
        sequence_used: false,
        track_id: null,
        messages: [
          {
            codigo: '',
            valor: `${encf('31', 45)} was not accepted, so this document was not sent; its number is free`,
          },
        ],
        attempts: [{ attempt: 1, track_id: null, status: 'Rechazado', sequence_used: false, final: true }],
      });
      await world.clearFaults();
      expect(await world.ledger(encf('34', 45))).toEqual([]);
      const refused = await world.submit(emission, note(45, 45, '5.00'));
      expect([refused.status, refused.body.faults[0].code]).toEqual([400, '614']);
      expect((await world.submit(emission, note(45, 40, '5.00'))).body.status).toBe('Aceptado');
      // The withdrawn note stays explained once another document took its number.
      expect(await told()).toMatchObject({
        status: 'Aceptado',
        attempts: [
          {
            attempt: 1,
            track_id: null,
            status: 'Rechazado',
            messages: [{ valor: expect.stringContaining('was not accepted') }],
          },
          { attempt: 2, track_id: expect.any(String), status: 'Aceptado' },
        ],
      });
    });
  });
});
