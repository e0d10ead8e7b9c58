import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, example } from './support/documents.js';
import { type Instance, World } from './support/world.js';

const REJECTED = (secuenciaUtilizada: boolean, codigo: number) => ({
  codigo: '2',
  estado: 'Rechazado',
  mensajes: [{ codigo, valor: 'rechazado' }],
  secuenciaUtilizada,
});

const REFUSED = {
  attempt: 1,
  state: 'rejected-reusable',
  submittedAt: null,
  code: '2',
  messages: [],
  sequenceUsed: false,
  dateReceived: null,
};

describe('the same number again', () => {
  let world: World;
  let emission: Instance;
  let second: Instance;

  beforeAll(async () => {
    world = await World.create();
    [emission, second] = [await world.start(), await world.start()];
  });
  afterAll(() => world.stop());

  const other = (sequence: number, type = 'ecf-31') =>
    example(type, sequence, (ecf) => {
      ecf.Encabezado.Comprador.RazonSocialComprador = 'Otro nombre';
    });

  async function rejected(sequence: number, secuenciaUtilizada: boolean, codigo = 1): Promise<void> {
    const id = await world.fault({
      operation: 'consultaresultado',
      kind: 'verdict',
      verdict: REJECTED(secuenciaUtilizada, codigo),
    });
    const { body } = await world.submit(emission, example('ecf-31', sequence));
    expect(body.status).toBe('Rechazado');
    await world.clearFaults(id);
  }

  it('with the same content gets the stored answer, whatever the order of keys and empty values', async () => {
    const first = await world.submit(emission, example('ecf-31', 1));
    const again = await world.submit(emission, example('ecf-31', 1));
    expect(again).toMatchObject({ status: 200, body: first.body });
    const shuffled = example('ecf-31', 1, (ecf) => {
      const { IdDoc, ...rest } = ecf.Encabezado;
      ecf.Encabezado = {
        ...rest,
        IdDoc: Object.fromEntries(Object.entries(IdDoc).reverse()),
        Transporte: null,
        OtraMoneda: {},
      };
      ecf.Subtotales = [];
    });
    expect((await world.submit(second, shuffled)).body).toEqual(first.body);
    expect(await world.ledger(encf('31', 1))).toHaveLength(1);
  });

  it('on the summary route as well', async () => {
    const first = await world.submit(emission, example('ecf-32', 1));
    expect((await world.submit(second, example('ecf-32', 1))).body).toEqual(first.body);
    expect(await world.ledger(encf('32', 1))).toHaveLength(1);
  });

  it('with other content is 409 while the first is accepted or undecided', async () => {
    await world.submit(emission, example('ecf-31', 2));
    const { status, body } = await world.submit(emission, other(2));
    expect([status, body.code]).toEqual([409, 'encf_already_used']);
    const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
    const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
    await world.submit(quick, example('ecf-31', 3));
    expect((await world.submit(quick, other(3))).status).toBe(409);
    await world.clearFaults(id);
    await world.reaches(encf('31', 3), ['accepted']);
    expect(await world.ledger(encf('31', 2))).toHaveLength(1);
    expect(await world.ledger(encf('31', 3))).toHaveLength(1);
  });

  it.each([
    ['the same', (sequence: number) => example('ecf-31', sequence)],
    ['another', other],
  ])('after a rejection that leaves the number reusable, %s document is a new attempt', async (_what, next) => {
    const sequence = _what === 'the same' ? 4 : 5;
    await rejected(sequence, false);
    const before = await world.row(encf('31', sequence));
    await world.fault({
      operation: 'consultaresultado',
      kind: 'verdict',
      verdict: { codigo: '1', estado: 'Aceptado', mensajes: [], secuenciaUtilizada: true },
    });
    const { body } = await world.submit(emission, next(sequence));
    await world.clearFaults();
    expect(body.status).toBe('Aceptado');
    expect(body.trackId).not.toBe(before?.track_id);
    const row = await world.row(encf('31', sequence));
    expect(row).toMatchObject({
      attempt: 2,
      past: [{ attempt: 1, trackId: before?.track_id, state: 'rejected-reusable' }],
    });
    expect(await world.ledger(encf('31', sequence))).toHaveLength(2);
  });

  it('submitted again after rejections that are not kept with it: none of them is adopted for the lost send', async () => {
    await rejected(70, false);
    const first = await world.row(encf('31', 70));
    await rejected(70, false);
    const elsewhere = { ...REFUSED, trackId: 'of another time', omittedBefore: 1 };
    await world.database.query('UPDATE attempt SET past = $1 WHERE emission_id = $2 AND attempt = 2', [
      JSON.stringify([elsewhere]),
      first?.emission_id,
    ]);
    const second = await world.row(encf('31', 70));
    const listed = [first, second].map((row) => ({
      trackId: row?.track_id,
      estado: 'Rechazado',
      fechaRecepcion: '15/06/2026',
    }));
    await world.fault({ operation: 'consultatrackids', kind: 'http', status: 200, body: JSON.stringify(listed) });
    const body = JSON.stringify({ codigo: 0, estado: 'No encontrado' });
    await world.fault({ operation: 'consultaestado', kind: 'http', status: 200, body });
    // The third submission is lost. The resend is refused as a repeat and then looked up.
    await world.fault({ operation: 'recepcion', kind: 'reset', times: 1 });
    await world.submit(emission, example('ecf-31', 70));
    const row = await world.reaches(encf('31', 70), ['arrived', 'processing', 'accepted', 'rejected-reusable']);
    expect(row).toMatchObject({ state: 'arrived', attempt: 3, track_id: null });
    await world.clearFaults();
  });

  it('after a rejection that used the number: the stored answer, or 409 for another document', async () => {
    await rejected(6, true, 615);
    const again = await world.submit(emission, example('ecf-31', 6));
    expect(again.body).toMatchObject({
      status: 'Rechazado',
      sequence_used: true,
      messages: [{ codigo: '615', valor: 'rechazado' }],
    });
    expect((await world.submit(emission, other(6))).status).toBe(409);
    expect(await world.ledger(encf('31', 6))).toHaveLength(1);
  });

  it('after 1209 the number is never free, whatever the flag says', async () => {
    await rejected(7, false, 1209);
    expect((await world.submit(emission, other(7))).status).toBe(409);
    expect((await world.submit(emission, example('ecf-31', 7))).body).toMatchObject({
      status: 'Rechazado',
      sequence_used: true,
    });
    expect(await world.ledger(encf('31', 7))).toHaveLength(1);
  });

  it('two equal requests at the same moment: one submission, two equal answers, also across instances', async () => {
    for (let sequence = 10; sequence < 16; sequence += 1) {
      const type = sequence % 2 === 0 ? 'ecf-31' : 'ecf-32';
      const answers = await Promise.all(
        [emission, emission, second, second, emission].map((instance) =>
          world.submit(instance, example(type, sequence)),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      for (const answer of answers) expect(answer.body).toEqual(answers[0]?.body);
      expect(await world.ledger(encf(type === 'ecf-31' ? '31' : '32', sequence))).toHaveLength(1);
    }
  });

  it('equal requests at the same moment: one submission where it is rejected and the number stays reusable', async () => {
    const id = await world.fault({ operation: 'recepcionfc', kind: 'verdict', verdict: REJECTED(false, 3) });
    // The first request is delayed until the others have arrived.
    let sendIt = (): void => undefined;
    const mayBeSent = new Promise<void>((resolve) => (sendIt = resolve));
    const slow = await world.start({ checkpoint: (step) => (step === 'committed' ? mayBeSent : undefined) });
    const document = example('ecf-32', 30);
    const first = world.submit(slow, document);
    await world.reaches(encf('32', 30), ['sending']);
    const others = [slow, slow, second].map((instance) => world.submit(instance, document));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    sendIt();
    const answers = await Promise.all([first, ...others]);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    expect(answers[0]?.body).toMatchObject({ status: 'Rechazado', sequence_used: false });
    expect(await world.ledger(encf('32', 30))).toHaveLength(1);
    // A later request makes a new attempt.
    await world.submit(slow, document);
    expect(await world.ledger(encf('32', 30))).toHaveLength(2);
    await world.clearFaults(id);
  });

  it('two equal requests at the same moment without waiting for the verdict', async () => {
    const quick = await Promise.all([world.start({}, { STATUS_WAIT_MS: 0 }), world.start({}, { STATUS_WAIT_MS: 0 })]);
    const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
    for (let sequence = 20; sequence < 24; sequence += 1) {
      const answers = await Promise.all(
        [...quick, ...quick].map((instance) => world.submit(instance, example('ecf-31', sequence))),
      );
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 200, body: { trackId: answers[0]?.body.trackId } });
      expect(answers[0]?.body.trackId).toEqual(expect.any(String));
      expect(await world.ledger(encf('31', sequence))).toHaveLength(1);
    }
    await world.clearFaults(id);
  });

  it('two different documents at the same moment: one is issued, the other is 409', async () => {
    const answers = await Promise.all([
      world.submit(emission, example('ecf-31', 30)),
      world.submit(second, other(30)),
      world.submit(emission, other(30)),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    expect([
      [200, 200, 409],
      [200, 409, 409],
    ]).toContainEqual(statuses);
    expect(await world.ledger(encf('31', 30))).toHaveLength(1);
  });

  it('the signed XML of an issued document is the same document; re-signed it is another', async () => {
    const { body } = await world.submit(emission, example('ecf-31', 40));
    const token = await world.token(emission);
    const repeated = await world.submitSigned(emission, '/submit_ecf', body.xml, token);
    expect(repeated).toMatchObject({ status: 200, body: { trackId: body.trackId, status: 'Aceptado' } });
    const summary = await world.submit(emission, example('ecf-32', 40));
    const repeatedSummary = await world.submitSigned(emission, '/submit_fc', summary.body.rfce_xml, token);
    expect(repeatedSummary).toMatchObject({ status: 200, body: { status: 'Aceptado', encf: encf('32', 40) } });
    expect(await world.ledger(encf('31', 40))).toHaveLength(1);
    expect(await world.ledger(encf('32', 40))).toHaveLength(1);
  });

  it('the JSON of a signed document is the same document', async () => {
    const document = example('ecf-31', 41, (ecf) => {
      ecf.FechaHoraFirma = '15-06-2026 09:00:00';
    });
    const elsewhere = await world.submit(emission, document, { env: 'CerteCF' });
    const token = await world.token(emission);
    const signed = await world.submitSigned(emission, '/submit_ecf', elsewhere.body.xml, token);
    expect(signed.status).toBe(200);
    const json = await world.submit(emission, document);
    expect(json).toMatchObject({ status: 200, body: { trackId: signed.body.trackId, xml: elsewhere.body.xml } });
    expect((await world.submit(emission, example('ecf-31', 41))).status).toBe(409);
  });

  it('a repeat with another own reference is a repeat, and the first reference stays', async () => {
    const first = await world.submit(emission, example('ecf-31', 60), { reference: 'order-1' });
    const again = await world.submit(second, example('ecf-31', 60), { reference: 'order-2' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await world.row(encf('31', 60))).toMatchObject({ attempts: 1, own_reference: 'order-1' });
  });

  it('a new attempt after a rejection has the own reference of its request', async () => {
    await rejected(61, false);
    await world.submit(emission, example('ecf-31', 61), { reference: 'order-3' });
    expect(await world.row(encf('31', 61))).toMatchObject({ attempts: 2, own_reference: 'order-3' });
  });

  it.each(['', 'a'.repeat(101), 'factura \u00f1', 'a\tb'])(
    'an own reference of other than 1 to 100 printable ASCII characters is 422: %j',
    async (reference) => {
      const { status, body } = await world.call(emission, 'POST', '/fe_Submit', {
        headers: { 'x-reference': reference },
      });
      const loc = ['header', 'x-reference'];
      expect([status, body.detail]).toMatchObject([422, [{ loc, type: 'reference' }]]);
    },
  );
});
