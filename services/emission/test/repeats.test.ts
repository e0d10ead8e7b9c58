import fs from 'node:fs';
import path from 'node:path';
import { formatSignatureDateTime } from '@ecf/domain';
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

  it('with the same content on the summary route gets the stored answer', async () => {
    const first = await world.submit(emission, example('ecf-32', 1));
    expect((await world.submit(second, example('ecf-32', 1))).body).toEqual(first.body);
    expect(await world.ledger(encf('32', 1))).toHaveLength(1);
  });

  it('with another FechaHoraFirma and amounts of the same value gets the stored answer, also for an older hash', async () => {
    const sale = (signedAt: string, total: string) =>
      example('ecf-31', 8, (ecf) => {
        ecf.FechaHoraFirma = signedAt;
        ecf.Encabezado.Totales.MontoTotal = total;
      });
    const first = await world.submit(emission, sale('15-06-2026 10:00:00', '11430.00'));
    expect(await world.submit(second, sale('15-06-2026 10:00:30', '11430.0'))).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect((await world.submit(second, example('ecf-31', 8))).body).toEqual(first.body);
    expect((await world.submit(emission, sale('15-06-2026 10:01:00', '11430'))).body).toEqual(first.body);
    expect(await world.ledger(encf('31', 8))).toHaveLength(1);
  });

  it('with another FechaHoraFirma at the same moment makes one submission with equal answers', async () => {
    const answers = await Promise.all(
      [emission, second, emission, second].map((instance, index) =>
        world.submit(
          instance,
          example('ecf-32', 9, (ecf) => {
            ecf.FechaHoraFirma = `15-06-2026 09:00:0${index}`;
          }),
        ),
      ),
    );
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    expect(await world.ledger(encf('32', 9))).toHaveLength(1);
  });

  it('with other content is a conflict that names the stored document, its status and the elements that differ', async () => {
    await world.submit(emission, example('ecf-31', 86));
    const { body } = await world.submit(emission, other(86));
    expect(body.detail).toBe(
      `The document stored as ${encf('31', 86)} in TesteCF is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.Comprador.RazonSocialComprador is "Taller Caoba Imaginario, SRL" in the stored document and "Otro nombre" in this one. If this is the same sale, you need not do anything. Use another number only for another sale.`,
    );
  });

  it('under an idempotency-key names one submission, also where the document states its number', async () => {
    const key = 'sale-80';
    const first = await world.submit(emission, example('ecf-31', 80), { key });
    expect(first).toMatchObject({ status: 200, body: { status: 'Aceptado' } });
    expect((await world.submit(second, example('ecf-31', 80), { key })).body).toEqual(first.body);
    const renumbered = await world.submit(second, example('ecf-31', 81), { key });
    expect(renumbered).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect(renumbered.body.detail).toContain(
      `${encf('31', 80)} in TesteCF, is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.IdDoc.eNCF is "${encf('31', 80)}" in the stored document and "${encf('31', 81)}" in this one. If this is the same sale`,
    );
    expect((await world.submit(second, other(80), { key })).body.code).toBe('idempotency_conflict');
    expect(await world.row(encf('31', 81))).toBeNull();
    const answers = await Promise.all(
      [82, 83, 84].map((sequence, index) =>
        world.submit(index === 0 ? emission : second, example('ecf-31', sequence), { key: 'sale-82' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const rows = await Promise.all([82, 83, 84].map((sequence) => world.row(encf('31', sequence))));
    expect(rows.filter((row) => row !== null)).toHaveLength(1);
  });

  it('with an idempotency-key binds that key to the document', async () => {
    const key = 'sale-87';
    const first = await world.submit(emission, example('ecf-31', 87));
    const late = await Promise.all([emission, second].map((one) => world.submit(one, example('ecf-31', 87), { key })));
    for (const { body } of late) expect(body).toEqual(first.body);
    const renumbered = await world.submit(second, example('ecf-31', 88), { key });
    expect(renumbered).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect(await world.row(encf('31', 88))).toBeNull();
  });

  it('under an idempotency-key whose submission was rejected gets the rejection, and makes no new attempt', async () => {
    const id = await world.fault({ operation: 'recepcionfc', kind: 'verdict', verdict: REJECTED(false, 3) });
    const first = await world.submit(emission, example('ecf-32', 85), { key: 'sale-85' });
    await world.clearFaults(id);
    expect(first.body).toMatchObject({ status: 'Rechazado', sequence_used: false });
    expect((await world.submit(second, example('ecf-32', 85), { key: 'sale-85' })).body).toEqual(first.body);
    expect(await world.ledger(encf('32', 85))).toHaveLength(1);
    expect((await world.submit(second, example('ecf-32', 85), { key: 'other' })).body.status).toBe('Aceptado');
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

  it('after rejections that are not kept with it does not adopt one of them for the lost send', async () => {
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

  it('after a rejection that used the number gets the stored answer, or 409 for another document', async () => {
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

  it('is never free after 1209, whatever the flag says', async () => {
    await rejected(7, false, 1209);
    expect((await world.submit(emission, other(7))).status).toBe(409);
    expect((await world.submit(emission, example('ecf-31', 7))).body).toMatchObject({
      status: 'Rechazado',
      sequence_used: true,
    });
    expect(await world.ledger(encf('31', 7))).toHaveLength(1);
  });

  it('in two equal requests at the same moment makes one submission with two equal answers, also across instances', async () => {
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

  it('in equal requests at the same moment makes one submission, even if it is rejected and the number stays reusable', async () => {
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

  it('in equal requests that do not wait for the verdict makes one submission', async () => {
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

  it('in two different documents at the same moment is issued once, and the other document gets 409', async () => {
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

  it('for a summary that was rejected within the same second is signed with the next second', async () => {
    const reject = () =>
      world.fault({ operation: 'recepcionfc', kind: 'verdict', times: 2, verdict: REJECTED(false, 3) });
    const at = '15-06-2026 09:00:00';
    const stated = example('ecf-32', 50, (ecf) => {
      ecf.FechaHoraFirma = at;
    });
    await reject();
    const answers = [await world.submit(emission, stated), await world.submit(second, stated)];
    expect(answers.map(({ body }) => body.status)).toEqual(['Rechazado', 'Rechazado']);
    const third = await world.submit(emission, stated);
    expect(third.body).toMatchObject({ status: 'Aceptado', signature_datetime: '2026-06-15 09:00:02' });
    expect(third.body.warnings).toContainEqual(
      expect.objectContaining({ rule: 'business.signed-later', path: 'ECF.FechaHoraFirma' }),
    );
    expect((await world.submit(emission, stated)).body).toEqual(third.body);
    await reject();
    const open = [];
    for (let times = 0; times < 3; times += 1) open.push((await world.submit(emission, example('ecf-32', 51))).body);
    expect(open.map(({ status }) => status)).toEqual(['Rechazado', 'Rechazado', 'Aceptado']);
    expect(new Set(open.map(({ security_code }) => security_code)).size).toBe(3);
    expect(open[2].warnings).toEqual(open[0].warnings);
  });

  it('with warnings=refuse does not sign a rejected summary at another time than it states', async () => {
    await world.fault({ operation: 'recepcionfc', kind: 'verdict', times: 1, verdict: REJECTED(false, 3) });
    const at = (time: Date) =>
      example('ecf-32', 53, (ecf) => {
        ecf.FechaHoraFirma = formatSignatureDateTime(time);
      });
    const time = new Date();
    const submit = (document: unknown) => world.submit(emission, document, { query: '?warnings=refuse' });
    expect((await submit(at(time))).body.status).toBe('Rechazado');
    const refused = await submit(at(time));
    expect([refused.status, refused.body.faults]).toMatchObject([400, [{ rule: 'business.signed-later' }]]);
    expect(await world.row(encf('32', 53))).toMatchObject({ attempt: 1, state: 'rejected-reusable' });
    const corrected = await submit(at(new Date(time.getTime() + 1_000)));
    expect(corrected.body).toMatchObject({ status: 'Aceptado', warnings: [] });
  });

  it('for a rejected signed summary stays open, also after the answer that the combination was used', async () => {
    const token = await world.token(emission);
    const signed = async (time: string) => {
      const document = example('ecf-32', 52, (ecf) => {
        ecf.FechaHoraFirma = `15-06-2026 09:00:${time}`;
      });
      return (await world.submit(emission, document, { env: time === '00' ? 'CerteCF' : 'eCF' })).body.rfce_xml;
    };
    const [first, later] = [await signed('00'), await signed('01')];
    await world.fault({ operation: 'recepcionfc', kind: 'verdict', times: 1, verdict: REJECTED(false, 3) });
    expect((await world.submitSigned(emission, '/submit_fc', first, token)).body.status).toBe('Rechazado');
    const refused = await world.submitSigned(emission, '/submit_fc', first, token);
    expect(refused.body).toMatchObject({
      status: 'Rechazado',
      sequence_used: false,
      messages: [{ codigo: '75', valor: expect.stringContaining('combinación') }, { codigo: 'gateway' }],
    });
    expect((await world.submitSigned(emission, '/submit_fc', later, token)).body.status).toBe('Aceptado');
  });

  it('with the signed XML of an issued document is the same document', async () => {
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

  it('in a document or summary that was signed again gets the stored answer with a warning, as the same sale', async () => {
    const token = await world.token(emission);
    const signedAt = (name: string, time: string) =>
      example(name, 42, (ecf) => {
        ecf.FechaHoraFirma = `15-06-2026 ${time}`;
      });
    for (const [name, route] of [
      ['ecf-31', '/submit_ecf'],
      ['ecf-32', '/submit_fc'],
    ] as const) {
      const xmls: string[] = [];
      for (const time of ['09:00:00', '09:00:30']) {
        const elsewhere = await world.submit(emission, signedAt(name, time), {
          env: time === '09:00:00' ? 'CerteCF' : 'eCF',
        });
        xmls.push(name === 'ecf-31' ? elsewhere.body.xml : elsewhere.body.rfce_xml);
      }
      const answers = [];
      for (const xml of xmls) answers.push(await world.submitSigned(emission, route, xml, token));
      await world.reaches(encf(name.slice(4), 42), ['accepted']);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers[1]?.body.security_code).toBe(answers[0]?.body.security_code);
      expect(answers[1]?.body.warnings.at(-1)).toMatchObject({ rule: 'business.signed-before' });
      // One for each of the three environments.
      expect(await world.ledger(encf(name.slice(4), 42))).toHaveLength(3);
    }
  });

  it('with the JSON of a signed document is the same document', async () => {
    const document = example('ecf-31', 41, (ecf) => {
      ecf.FechaHoraFirma = '15-06-2026 09:00:00';
    });
    const elsewhere = await world.submit(emission, document, { env: 'CerteCF' });
    const token = await world.token(emission);
    const signed = await world.submitSigned(emission, '/submit_ecf', elsewhere.body.xml, token);
    expect(signed.status).toBe(200);
    const json = await world.submit(emission, document);
    expect(json).toMatchObject({ status: 200, body: { trackId: signed.body.trackId, xml: elsewhere.body.xml } });
    expect((await world.submit(emission, other(41))).status).toBe(409);
  });

  /** The statements of docs/operators.md for a month: the list of old months, to detach, to attach. */
  function ofMonth(year: number, month: number): string[] {
    const [first, next] = [month, month + 1].map((each) => new Date(Date.UTC(year, each)).toISOString().slice(0, 10));
    const page = fs.readFileSync(path.resolve('docs/operators.md'), 'utf8');
    return page
      .split('```sql\n')
      .slice(1)
      .map((part) => part.slice(0, part.indexOf('```')))
      .map((sql) => sql.replaceAll('2026-11-01', first as string).replaceAll('2026-12-01', next as string))
      .map((sql) => sql.replaceAll('2026_11', (first as string).slice(0, 7).replace('-', '_')));
  }

  it('is refused while the month of its document is detached, and is found again after that', async () => {
    const { body: first } = await world.submit(emission, example('ecf-31', 120));
    const now = new Date();
    const [present, old] = [now.getUTCFullYear(), now.getUTCFullYear() - 11].map((year) =>
      ofMonth(year, now.getUTCMonth()),
    );
    const [, detach, attach] = present as string[];
    const bounds = `SELECT c.relname, pg_get_expr(relpartbound, oid) FROM pg_class c WHERE relispartition ORDER BY 1`;
    const before = (await world.database.query(bounds)).rows;
    await world.database.query(detach as string);
    const refused = await world.submit(emission, example('ecf-31', 120));
    expect([refused.status, refused.body.code]).toEqual([409, 'encf_already_used']);
    await world.database.query(attach as string);
    expect((await world.database.query(bounds)).rows).toEqual(before);
    expect((await world.submit(emission, example('ecf-31', 120))).body).toEqual(first);

    const [list, detachOld, attachOld] = old as [string, string, string];
    const suffix = /attempt_(\w+)/.exec(attachOld)?.[1];
    for (const table of ['attempt', 'exchange'])
      await world.database.query(`CREATE TABLE ${table}_${suffix} (LIKE ${table} INCLUDING ALL)`);
    await world.database.query(attachOld);
    expect((await world.database.query(list)).rows).toEqual([{ month: `attempt_${suffix}` }]);
    await world.database.query(detachOld);
    expect((await world.database.query(list)).rows).toEqual([]);
  });

  it('with another own reference is a repeat, and the first reference stays', async () => {
    const first = await world.submit(emission, example('ecf-31', 60), { reference: 'order-1' });
    const again = await world.submit(second, example('ecf-31', 60), { reference: 'order-2' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await world.row(encf('31', 60))).toMatchObject({ attempts: 1, own_reference: 'order-1' });
  });

  it('after a rejection is a new attempt with the own reference of its request', async () => {
    await rejected(61, false);
    await world.submit(emission, example('ecf-31', 61), { reference: 'order-3' });
    expect(await world.row(encf('31', 61))).toMatchObject({ attempts: 2, own_reference: 'order-3' });
  });

  it.each(['', 'a'.repeat(101), 'factura \u00f1', 'a\tb'])(
    'with an own reference of other than 1 to 100 printable ASCII characters gets 422: %j',
    async (reference) => {
      const { status, body } = await world.call(emission, 'POST', '/fe_Submit', {
        headers: { 'x-reference': reference },
      });
      const loc = ['header', 'x-reference'];
      expect([status, body.detail]).toMatchObject([422, [{ loc, type: 'reference' }]]);
    },
  );
});
