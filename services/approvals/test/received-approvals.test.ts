import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { type AuditAct, TOPICS } from '@ecf/contracts';
import { type DocumentNode, groupOf } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { createLogger } from '@ecf/kit/telemetry';
import { openDatabase, type Transaction } from '@ecf/postgres';
import { quotaHour } from '@ecf/public-ingress';
import { testKey } from '@ecf/test-support';
import { until } from '@ecf/test-support/until';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Approvals } from '../src/index.js';
import { createKnownSigners, makeKnown } from '../src/received/received-approvals.postgres.js';
import {
  ACCOUNT,
  AUTHORITY,
  BUYER,
  certificate,
  ecfTree,
  INGRESS,
  ISSUER,
  issueCertificate,
  issuedInvoice,
  receivedInvoice,
  STRANGER,
  World,
} from './support/world.js';

let world: World;
const logged: string[] = [];
beforeAll(async () => {
  const destination = { write: (text: string) => void logged.push(text) };
  world = await World.start({
    overrides: { logger: createLogger({ service: 'approvals', destination }) },
    settings: {
      MAX_BODY_BYTES: '2000000',
      MAX_REFUSED_BYTES: '25000',
      MAX_STORED_BYTES_PER_SENDER: '1500000',
      BODY_TIMEOUT_MS: '2000',
    },
  });
});
afterAll(() => world.stop());

interface Fields {
  [element: string]: string | undefined;
}

/** A signed approval of another program: plain text with our signature. */
async function acecf(encf: string, fields: Fields = {}, signer = certificate): Promise<string> {
  const all: Fields = {
    Version: '1.0',
    RNCEmisor: ISSUER,
    eNCF: encf,
    FechaEmision: '15-06-2026',
    MontoTotal: '11430.00',
    RNCComprador: BUYER,
    Estado: '1',
    DetalleMotivoRechazo: undefined,
    FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
    ...fields,
  };
  const detail = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as DocumentNode;
  return (await signXml(writeXml({ ACECF: { DetalleAprobacionComercial: detail } }), signer)).xml;
}

const ACCEPTED = { codigo: '1', estado: 'Aprobacion Comercial Aceptada', mensaje: [] };
const refused = (reason: unknown) => ({ codigo: '2', estado: 'Aprobacion Comercial Rechazada', mensaje: [reason] });
const STRUCTURE =
  'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente';
const SIGNATURE = 'La firma del XML no es válida';
const INVALID = 'No se encuentra un e-CF válido para esta aprobación comercial';
const state = async (encf: string) =>
  (await world.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`)).body;
const count = async (table: string, encf: string) =>
  (await world.database.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE encf = $1`, [encf])).rows[0]?.n;
const issued = () => world.invoice('31', { at: ['issued'] });

describe('an approval', () => {
  it.each([
    ['33', 'E320000000006'],
    ['34', 'E460000000009'],
  ])(
    "of a note of type %s on %s is accepted, because the authority's certification set has them",
    async (type, modified_encf) => {
      const encf = world.nextEncf(type);
      world.issued.set(`${ISSUER}|${encf}`, issuedInvoice(encf, { modified_encf }));
      expect((await world.send(await acecf(encf))).body).toEqual(ACCEPTED);
      expect(await state(encf)).toMatchObject({ approval_status: 'approved' });
    },
  );

  it('an approval is accepted, stored byte for byte, and published', async () => {
    const encf = await issued();
    expect(await state(encf)).toEqual({
      encf,
      issuer_rnc: ISSUER,
      buyer_rnc: BUYER,
      approval_status: 'pending',
      approval_confirmed: false,
      approval_datetime: null,
      rejection_reason: null,
      signer: null,
    });
    const xml = await acecf(encf);
    const { status, body, headers } = await world.send(xml);
    expect([status, body]).toEqual([200, ACCEPTED]);
    expect(headers.get('x-request-id')).toBeTruthy();
    const { rows } = await world.database.query<{ xml_path: string; xml_sha256: string }>(
      'SELECT * FROM received_approvals WHERE encf = $1',
      [encf],
    );
    const kept = await world.stored(rows[0]?.xml_path as string, rows[0]?.xml_sha256 as string);
    expect(kept.toString('utf8')).toBe(xml);
    expect(await state(encf)).toMatchObject({
      approval_status: 'approved',
      approval_datetime: '2026-06-23T17:45:47-04:00',
    });
    const events = await until(
      () => world.published.filter(({ data }) => data.encf === encf),
      (seen) => seen.length === 1,
    );
    expect(events[0]?.data).toEqual({
      direction: 'received',
      env: 'TesteCF',
      run: 1,
      issuer_rnc: ISSUER,
      encf,
      buyer_rnc: BUYER,
      revision: 1,
      approval_status: 'approved',
      approval_confirmed: false,
      approval_datetime: '2026-06-23T17:45:47-04:00',
    });
  });

  it('a rejection is accepted with its reason', async () => {
    const encf = await issued();
    const xml = await acecf(encf, { Estado: '2', DetalleMotivoRechazo: 'No recibido & dañado' });
    expect((await world.send(xml)).status).toBe(200);
    expect(await state(encf)).toMatchObject({ approval_status: 'rejected', rejection_reason: 'No recibido & dañado' });
  });

  it.each(['33', '34', '44', '45'])('an approval of type %s is accepted', async (type) => {
    const encf = await world.invoice(type, { at: ['issued'], total: '0.00' });
    expect((await world.send(await acecf(encf, { MontoTotal: '0.00' }))).body).toEqual(ACCEPTED);
  });

  it.each(['35400', '35400.0', '35400.00'])(
    'with the amount written %s is accepted, because the authority sends it',
    async (amount) => {
      const encf = await world.invoice('31', { at: ['issued'], total: '35400.00' });
      expect((await world.send(await acecf(encf, { MontoTotal: amount }))).body).toEqual(ACCEPTED);
    },
  );

  it('one of fifty concurrent copies of an approval is accepted', async () => {
    const encf = await issued();
    const xml = await acecf(encf);
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.send(xml)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(400)]);
    expect([await count('received_approvals', encf), await count('refused_approvals', encf)]).toEqual([1, 1]);
    const { rows } = await world.database.query('SELECT repeats FROM refused_approvals WHERE encf = $1', [encf]);
    expect(rows).toEqual([{ repeats: 48 }]);
    await until(
      () => world.published.filter(({ data }) => data.encf === encf).length,
      (seen) => seen >= 1,
    );
    expect(world.published.filter(({ data }) => data.encf === encf)).toHaveLength(1);
  });
});

describe('the signer of an answer', () => {
  const stranger = issueCertificate(
    '00300000009',
    createCertificateAuthority({ key: testKey(2) }),
    undefined,
    testKey(2),
  );
  const rejection = { Estado: '2', DetalleMotivoRechazo: 'No recibido' };
  const answers = async (encf: string, account?: string) =>
    (
      await world.call(
        'GET',
        `/fe/aprobacioncomercial/api/invoices/${encf}/answers?issuer_rnc=${ISSUER}`,
        undefined,
        account === undefined ? {} : { account },
      )
    ).body;
  const decide = (answer_id: number, counts: boolean, account_id = ACCOUNT) =>
    world.instances[0]?.internal.decideAnswer({
      ...{ account_id, answer_id, counts, reason: 'The buyer called us.' },
      by: { actor: 'Ana', request_id: 'r-1' },
    });
  const told = (encf: string, times: number) =>
    until(
      () => world.published.filter(({ data }) => data.encf === encf).map(({ data }) => data),
      (seen) => seen.length === times,
    );
  /** The authority confirms an e-CF of the buyer with the signer of its approvals. */
  const becomesKnown = () =>
    world.publishReceived(
      receivedInvoice('E310000000001', {
        issuer_rnc: BUYER,
        buyer_rnc: ISSUER,
        authority_status: 'confirmed',
        signer: {
          subject: 'CN=REPRESENTANTE',
          serial_number: '1',
          issuer: 'CN=X',
          fingerprint: certificate.fingerprint,
          key_fingerprint: keyOf(certificate),
          holder_id: null,
          trusted: null,
        },
      }),
    );
  const keyOf = (signer: SigningCertificate) => {
    const { publicKey } = new X509Certificate(Buffer.from(signer.certificate, 'base64'));
    return createHash('sha256')
      .update(publicKey.export({ format: 'der', type: 'spki' }))
      .digest('hex');
  };
  afterEach(() => world.database.query('DELETE FROM known_signers'));
  const acts: AuditAct[] = [];
  beforeAll(() =>
    world.bus.subscribe({
      topics: [TOPICS.audit.name],
      group: 'gateway',
      handler: async ({ data }) => void acts.push(data as AuditAct),
    }),
  );

  it('the approval of a known signer replaces that of an unknown one, and both are kept', async () => {
    const encf = await issued();
    expect((await world.send(await acecf(encf, rejection, stranger))).body).toEqual(ACCEPTED);
    expect(await state(encf)).toMatchObject({
      approval_status: 'rejected',
      approval_confirmed: false,
      signer: { subject: expect.stringContaining('00300000009'), fingerprint: stranger.fingerprint, known: false },
    });
    // It is still unknown which of the two acts for the buyer.
    const other = issueCertificate('00700000007', AUTHORITY, undefined, testKey(3));
    expect((await world.send(await acecf(encf, {}, other))).status).toBe(400);
    await becomesKnown();
    const genuine = await acecf(encf, { FechaHoraAprobacionComercial: '23-06-2026 18:00:00' });
    expect((await world.send(genuine)).body).toEqual(ACCEPTED);
    expect(await state(encf)).toMatchObject({
      approval_status: 'approved',
      approval_confirmed: true,
      rejection_reason: null,
      signer: { fingerprint: certificate.fingerprint, trusted: null, known: true },
    });
    expect((await world.send(await acecf(encf, rejection))).status).toBe(400);
    const seen = await answers(encf);
    expect(seen.count).toBe(4);
    expect(seen.answers).toMatchObject([
      { approval_status: 'rejected', rejection_reason: 'No recibido', confirmed: false, counts: false },
      { approval_status: 'approved', confirmed: false, counts: false },
      { approval_status: 'approved', confirmed: true, counts: true, signer: { known: true } },
      { approval_status: 'rejected', confirmed: true, counts: false },
    ]);
    expect(await told(encf, 2)).toMatchObject([
      { revision: 1, approval_status: 'rejected', approval_confirmed: false },
      { revision: 2, approval_status: 'approved', approval_confirmed: true },
    ]);
  });

  it('the earlier approval of a signer who becomes known by a confirmed e-CF replaces that of a stranger', async () => {
    const encf = await issued();
    await world.send(await acecf(encf, rejection, stranger));
    const xml = await acecf(encf);
    expect((await world.send(xml)).status).toBe(400);
    await becomesKnown();
    expect(await state(encf)).toMatchObject({ approval_status: 'approved', approval_confirmed: true });
    expect((await world.send(xml)).status).toBe(400);
    await becomesKnown();
    expect((await told(encf, 2)).map((data) => [data.revision, data.approval_confirmed])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('a signer who was known before its issuer was trusted makes its holder known by a trusted document', async () => {
    const database = openDatabase(world.databaseUrl, { max: 1 });
    const signers = createKnownSigners(database);
    const use = (keyFingerprint: string, trusted: boolean | null, at: string) => ({
      env: 'TesteCF' as const,
      rnc: BUYER,
      signer: { keyFingerprint, holderId: '00500000005', trusted },
      at: new Date(at),
    });
    const renewed = use('renewed', true, '2026-06-23T15:00:00Z');
    await signers.confirmed(use('first', null, '2026-06-23T12:00:00Z'));
    expect(await signers.areKnown([renewed])).toEqual([false]);
    await signers.confirmed(use('first', true, '2026-06-23T13:00:00Z'));
    expect(await signers.areKnown([renewed])).toEqual([true]);
    await database.close();
  });

  /** Another transaction that did its work and commits when it is released. */
  async function holding(work: (tx: Transaction) => Promise<unknown>): Promise<() => Promise<void>> {
    const database = openDatabase(world.databaseUrl);
    let release = () => {};
    let began = () => {};
    const holds = new Promise<void>((resolve) => {
      began = resolve;
    });
    const other = database.transaction(async (tx) => {
      await work(tx);
      began();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await holds;
    return async () => {
      release();
      await other;
      await database.close();
    };
  }
  const waiting = async () =>
    (await world.database.query<{ n: number }>('SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted')).rows[0]?.n;

  it('an approval is confirmed if its signer becomes known while it is stored', async () => {
    const encf = await issued();
    // Another transaction holds the e-CF, so the answer waits after its signer was looked up.
    const release = await holding(async (tx) => {
      const values = ['TesteCF', ISSUER, encf, BUYER];
      await tx.query(
        'INSERT INTO received_decisions (env, issuer_rnc, encf, buyer_rnc) VALUES ($1, $2, $3, $4)',
        values,
      );
      await tx.query('DELETE FROM received_decisions WHERE encf = $1', [encf]);
    });
    const sent = world.send(await acecf(encf));
    await until(waiting, (n) => n === 1);
    let known = false;
    const published = becomesKnown().then(() => {
      known = true;
    });
    await until(waiting, (n) => known || n === 2);
    await release();
    await Promise.all([sent, published]);
    await until(
      () => state(encf),
      (seen) => seen.approval_confirmed === true,
    );
  });

  it.each([
    ['is taken', false],
    ['is refused, because another one counts', true],
  ])('that became known before its answer is stored has an answer confirmed that %s', async (_, hasOther) => {
    const encf = await issued();
    if (hasOther) await world.send(await acecf(encf, rejection, stranger));
    const signer = { keyFingerprint: keyOf(certificate), holderId: null, trusted: null };
    // The answer finds its signer unknown, and waits until the other transaction has made it known.
    const release = await holding((tx) => makeKnown(tx, { env: 'TesteCF', rnc: BUYER, signer, at: new Date(0) }));
    const sent = world.send(await acecf(encf));
    await until(waiting, (n) => n === 1);
    await release();
    await sent;
    expect(await state(encf)).toMatchObject({ approval_status: 'approved', approval_confirmed: true });
  });

  it('an operator can decide that an approval does not count, and the e-CF is pending', async () => {
    const encf = await issued();
    await world.send(await acecf(encf, rejection, stranger));
    await world.send(await acecf(encf));
    const [forged, genuine] = (await answers(encf)).answers;
    await expect(decide(forged.id, false, 'account-2')).rejects.toMatchObject({ code: 'not_found' });
    expect(await decide(forged.id, false)).toMatchObject({ id: String(forged.id), counts: false, confirmed: false });
    expect(await state(encf)).toMatchObject({ approval_status: 'pending', approval_confirmed: false, signer: null });
    // The same stranger does not come back.
    const again = await acecf(encf, { ...rejection, DetalleMotivoRechazo: 'Otra vez' }, stranger);
    expect((await world.send(again)).status).toBe(400);
    expect(await state(encf)).toMatchObject({ approval_status: 'pending' });
    expect(await decide(genuine.id, true)).toMatchObject({ counts: true });
    expect(await state(encf)).toMatchObject({ approval_status: 'approved', approval_confirmed: false });
    expect(await decide(genuine.id, true)).toMatchObject({ counts: true });
    expect((await told(encf, 3)).map((data) => [data.approval_status, data.revision])).toEqual([
      ['rejected', 1],
      ['pending', 2],
      ['approved', 3],
    ]);
    const { rows } = await world.database.query('SELECT ruled_reason FROM received_approvals WHERE id = $1', [
      forged.id,
    ]);
    expect(rows).toEqual([{ ruled_reason: 'The buyer called us.' }]);
    const decided = (id: number, counts: boolean) => ({
      ...{ actor: 'Ana', request_id: 'r-1', action: 'approval.decide', target: `/accounts/${ACCOUNT}/approvals/${id}` },
      details: { counts, reason: 'The buyer called us.' },
    });
    const seen = await until(
      () => acts,
      ({ length }) => length === 3,
    );
    expect(seen).toMatchObject([decided(forged.id, false), decided(genuine.id, true), decided(genuine.id, true)]);
    const { decisions } = await (world.instances[0] as Approvals).outcomes.pageOfDecisions({ after: 0, limit: 1_000 });
    expect(decisions.filter((one) => one.encf === encf)).toMatchObject([{ revision: 3, approval_status: 'approved' }]);
  });

  it('the approval that counted before counts again when an operator withdraws another', async () => {
    const encf = await issued();
    await world.send(await acecf(encf));
    await world.send(await acecf(encf, rejection, stranger));
    const other = issueCertificate('00700000007', AUTHORITY, undefined, testKey(3));
    await world.send(await acecf(encf, { ...rejection, DetalleMotivoRechazo: 'Otro' }, other));
    const [first, second, third] = (await answers(encf)).answers.map(({ id }: { id: string }) => Number(id));
    const counting = async () => {
      const { approval_status } = await state(encf);
      const found = (await answers(encf)).answers.find(({ counts }: { counts: boolean }) => counts);
      return [approval_status, found === undefined ? null : Number(found.id)];
    };
    await decide(second, true);
    expect(await counting()).toEqual(['rejected', second]);
    await decide(second, false);
    expect(await counting()).toEqual(['approved', first]);
    await decide(second, true);
    await decide(third, true);
    await decide(second, false);
    expect(await counting()).toEqual(['rejected', third]);
    await decide(third, false);
    expect(await counting()).toEqual(['approved', first]);
    await decide(second, true);
    await decide(first, true);
    await decide(first, false);
    expect(await counting()).toEqual(['rejected', second]);
    await decide(second, false);
    expect(await counting()).toEqual(['pending', null]);
  });

  it('an approval is not shown to other accounts', async () => {
    const encf = await issued();
    await world.send(await acecf(encf));
    expect(await answers(encf, 'account-2')).toMatchObject({ code: 'taxpayer_not_found' });
    expect(await answers('E310099999998')).toMatchObject({ code: 'not_found' });
  });
});

describe('a refusal with the texts of the authority', () => {
  it('an approval of an e-CF that was answered before is refused', async () => {
    const encf = await issued();
    const repeated = refused(`La aprobación comercial del e-CF ${encf} ya habia sido cargada y aceptada previamente`);
    const xml = await acecf(encf);
    await world.send(xml);
    for (const again of [xml, await acecf(encf, { Estado: '2', DetalleMotivoRechazo: 'x' })]) {
      const { status, body } = await world.send(again);
      expect([status, body]).toEqual([400, repeated]);
    }
    expect(await state(encf)).toMatchObject({ approval_status: 'approved' });
    const { rows } = await world.database.query<{ reason: string; xml_path: string }>(
      'SELECT * FROM refused_approvals WHERE encf = $1',
      [encf],
    );
    expect(rows.map(({ reason }) => reason)).toEqual([repeated.mensaje[0], repeated.mensaje[0]]);
  });

  const cases: [string, Fields, unknown][] = [
    ['another buyer', { RNCComprador: STRANGER }, INVALID],
    ['another date', { FechaEmision: '16-06-2026' }, INVALID],
    ['another amount', { MontoTotal: '11430.01' }, INVALID],
    ['an issuer that is not ours', { RNCEmisor: STRANGER }, 'Factura no encontrada para esta Aprobación comercial.'],
    [
      'a number that was not issued',
      { eNCF: 'E310099999999' },
      'Factura no encontrada para esta Aprobación comercial.',
    ],
    [
      'a type without approval',
      { eNCF: 'E320000000001' },
      'Aprobación Comercial no es requerida para este tipo de e-CF',
    ],
    ['an unknown decision', { Estado: '3' }, expect.stringContaining(`${STRUCTURE}. `)],
    ['a rejection without reason', { Estado: '2' }, expect.stringContaining(STRUCTURE)],
    ['an approval with a reason', { DetalleMotivoRechazo: 'x' }, expect.stringContaining(STRUCTURE)],
    ['three decimals', { MontoTotal: '11430.000' }, expect.stringContaining(STRUCTURE)],
    ['an amount that is not a number', { MontoTotal: 'mucho' }, expect.stringContaining(STRUCTURE)],
    ['a day that does not exist', { FechaEmision: '31-02-2026' }, expect.any(String)],
    ['a missing element', { FechaEmision: undefined }, expect.stringContaining(STRUCTURE)],
  ];
  it.each(cases)('an approval is refused for %s', async (_name, fields, reason) => {
    const encf = await issued();
    const { status, body } = await world.send(await acecf(encf, fields));
    expect([status, body]).toEqual([400, refused(reason)]);
    expect(await state(encf)).toMatchObject({ approval_status: 'pending' });
  });

  it.each([
    ['Rechazado', 200, 400],
    ['EnProceso', 200, 400],
    ['AceptadoCondicional', 200, 200],
  ] as const)(
    'depends on the status of the document (%s); the same approval is accepted once the document is',
    async (status, after, now) => {
      const encf = world.nextEncf();
      world.issued.set(`${ISSUER}|${encf}`, issuedInvoice(encf, { status }));
      const first = await world.send(await acecf(encf));
      expect(first.status).toBe(now);
      if (now === 400) expect(first.body).toEqual(refused(INVALID));
      if (status === 'Rechazado') return;
      world.issued.set(`${ISSUER}|${encf}`, issuedInvoice(encf, { status: 'Aceptado' }));
      if (now === 400) expect((await world.send(await acecf(encf))).status).toBe(after);
    },
  );

  it('an approval in another environment than that of the e-CF is refused', async () => {
    const encf = await issued();
    const reason = 'Factura no encontrada para esta Aprobación comercial.';
    logged.length = 0;
    const { body } = await world.send(await acecf(encf), {}, `/certecf${INGRESS}`);
    expect(body).toEqual(refused(reason));
    // An approval of an unknown e-CF leaves no row.
    const lines = logged
      .map((text) => JSON.parse(text))
      .filter(({ msg }) => msg === 'a commercial approval was refused');
    expect(lines).toMatchObject([{ reason, env: 'CerteCF', sender: '203.0.113.7' }]);
  });

  it('an invalid signature, a missing one, and other documents are refused', async () => {
    const encf = await issued();
    const xml = await acecf(encf, { Estado: '2', DetalleMotivoRechazo: 'caro' });
    expect((await world.send(xml.replace('>caro<', '>claro<'))).body).toEqual(refused(SIGNATURE));
    expect((await world.send(xml.replace(/<Signature[\s\S]*<\/Signature>/, ''))).body.mensaje[0]).toMatch(
      /estructura|firma/,
    );
    const ecf = (await signXml(writeXml(ecfTree(encf)), certificate)).xml;
    expect((await world.send(ecf)).body).toEqual(refused(expect.stringContaining(STRUCTURE)));
    expect(groupOf({}, 'x')).toBeNull();
    expect(await count('received_approvals', encf)).toBe(0);
  });

  it('an expired or future certificate is refused, and one renewed after the decision is accepted', async () => {
    const day = 24 * 3_600_000;
    const from = (first: number, last: number) =>
      issueCertificate('00400000004', AUTHORITY, {
        notBefore: new Date(Date.now() + first * day),
        notAfter: new Date(Date.now() + last * day),
      });
    const encf = await issued();
    const decided = { FechaHoraAprobacionComercial: '23-06-2018 17:45:47' };
    for (const signer of [from(-20, -10), from(10, 20)])
      expect((await world.send(await acecf(encf, decided, signer))).body).toEqual(refused(SIGNATURE));
    expect((await world.send(await acecf(encf, decided, from(-1, 300)))).body).toEqual(ACCEPTED);
  });

  it('a decision time in the future is accepted and kept as written', async () => {
    const encf = await issued();
    const ahead = { FechaHoraAprobacionComercial: '23-06-2099 17:45:47' };
    expect((await world.send(await acecf(encf, ahead))).body).toEqual(ACCEPTED);
    const shown = await world.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`);
    expect(shown.body).toMatchObject({ approval_status: 'approved', approval_datetime: '2099-06-23T17:45:47-04:00' });
  });
});

describe('an error instead of a receipt', () => {
  it('bytes that are not XML get 422 and are not recorded', async () => {
    for (const [body, type] of [
      ['<ACECF>', 'xml.not_well_formed'],
      ['<!DOCTYPE a [<!ENTITY b "c">]><ACECF/>', 'xml.doctype'],
      ['hello', 'body_not_xml'],
      ['', 'body_empty'],
    ] as const) {
      const answer = await world.send(body);
      expect([answer.status, answer.body.detail?.[0].type]).toEqual([422, type]);
    }
  });

  it('a document over the limit gets 413, a large hostile one is refused, and others are served', async () => {
    expect((await world.send(Buffer.alloc(3_000_000, 0x20))).status).toBe(413);
    const encf = await issued();
    const deep = `<ACECF>${'<a>'.repeat(200_000)}`;
    const [hostile, good] = await Promise.all([world.send(deep), world.send(await acecf(encf))]);
    expect([hostile.status, good.status]).toEqual([422, 200]);
  });

  it('a hundred bodies that stop are cut off, and others are served meanwhile', async () => {
    const { hostname, port } = new URL(world.url());
    const slow = Array.from({ length: 100 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST ${INGRESS} HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 5000\r\n\r\n<ACECF>`,
      );
      return socket;
    });
    const answers = slow.map(
      (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    const encf = await issued();
    expect((await world.send(await acecf(encf))).status).toBe(200);
    for (const answer of await Promise.all(answers))
      expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    for (const socket of slow) socket.destroy();
  });

  it('an approval gets an error while emission is unavailable, and the same bytes are accepted later', async () => {
    const encf = await issued();
    const xml = await acecf(encf);
    world.emissionGone = true;
    const { status } = await world.send(xml);
    world.emissionGone = false;
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await count('refused_approvals', encf)).toBe(0);
    expect((await world.send(xml)).status).toBe(200);
  });
});

describe('stored bytes of refused approvals', () => {
  const SENDERS = ['198.51.100.1', '198.51.100.2', '2001:db8::1'];
  const post = (xml: string, sender: string) => world.send(xml, { 'x-sender': sender });
  /** Unsigned and without structure, for one of our e-CF: about twenty thousand bytes, each time different. */
  const forged = (encf: string, length = 19_000) =>
    `<ACECF><DetalleAprobacionComercial><RNCEmisor>${ISSUER}</RNCEmisor><eNCF>${encf}</eNCF><RNCComprador>${STRANGER}</RNCComprador><a>${randomUUID()}${'x'.repeat(length)}</a></DetalleAprobacionComercial></ACECF>`;
  const rowsOf = async (encf: string) =>
    (
      await world.database.query<{ xml_path: string | null; sha256: string; bytes: number; sender: string }>(
        'SELECT xml_path, sha256, bytes, sender FROM refused_approvals WHERE encf = $1 ORDER BY id',
        [encf],
      )
    ).rows;
  const unkept = async () => {
    const metric = await world.metrics.registry.getSingleMetric('ecf_approvals_unkept_documents_total')?.get();
    const entries = metric?.values.map(({ labels, value }) => [String(labels.reason), value] as const) ?? [];
    return { size: 0, ...Object.fromEntries(entries) };
  };
  /** A sender has used all of its share of the last 24 hours. */
  const useUp = (sender: string) =>
    world.database.query(
      `INSERT INTO used_quotas (scope, hour, used) VALUES ($1, $2, 1500000)
       ON CONFLICT (scope, hour) DO UPDATE SET used = excluded.used`,
      [`sender:${sender}`, quotaHour(new Date())],
    );
  beforeEach(() => world.database.query('DELETE FROM used_quotas'));

  it('the stored bytes of a sender are bounded in 24 hours, refusals included, and those of others are kept', async () => {
    const encf = await issued();
    const [first = '', second = ''] = SENDERS;
    await useUp(first);
    const over = await post(forged(encf), first);
    expect([over.status, over.body.code]).toEqual([429, 'daily_bytes_used']);
    expect(await rowsOf(encf)).toEqual([]);
    expect((await post(forged(encf), second)).body.codigo).toBe('2');
    const [kept] = await rowsOf(encf);
    expect(kept?.xml_path).toMatch(
      new RegExp(
        `^TesteCF/acecf/${ISSUER}/received/\\d{4}/\\d\\d/\\d\\d/${kept?.sha256.slice(0, 2)}/${encf}-${kept?.sha256}\\.xml$`,
      ),
    );
    await world.stored(kept?.xml_path as string, kept?.sha256 as string);

    const genuine = await acecf(encf);
    expect((await post(genuine, second)).body).toEqual(ACCEPTED);
    const { rows: taken } = await world.database.query<{ xml_path: string; xml_sha256: string }>(
      'SELECT xml_path, xml_sha256 FROM received_approvals WHERE encf = $1',
      [encf],
    );
    const { xml_path, xml_sha256 } = taken[0] as { xml_path: string; xml_sha256: string };
    expect((await world.stored(xml_path, xml_sha256)).toString('utf8')).toBe(genuine);
    expect(xml_path).toMatch(new RegExp(`^TesteCF/acecf/${ISSUER}/received/\\d{4}/\\d\\d/[^/]+\\.xml$`));
    // Identical bytes are stored already and need no quota.
    await useUp(second);
    expect((await post(genuine, second)).status).toBe(400);
    expect((await rowsOf(encf)).at(-1)?.xml_path).toBe(xml_path);
  });

  it('identical refused approvals are stored once and counted', async () => {
    const encf = await issued();
    for (const xml of [forged(encf), forged(encf, 30_000)]) {
      for (const sender of [SENDERS[0], SENDERS[1], SENDERS[0]]) {
        expect((await post(xml, sender as string)).body.codigo).toBe('2');
        // Only the first needs quota.
        await useUp(SENDERS[0] as string);
        await useUp(SENDERS[1] as string);
      }
      await world.database.query('DELETE FROM used_quotas');
    }
    const { rows } = await world.database.query('SELECT repeats FROM refused_approvals WHERE encf = $1', [encf]);
    expect(rows).toEqual([{ repeats: 2 }, { repeats: 2 }]);
  });

  it('an approval that says the same in other bytes is counted and not stored', async () => {
    const encf = await issued();
    const xml = await acecf(encf);
    expect((await post(xml, SENDERS[0] as string)).status).toBe(200);
    await useUp(SENDERS[0] as string);
    for (const end of ['', '\n', '\n\n<!-- again -->'])
      expect((await post(xml + end, SENDERS[0] as string)).status).toBe(400);
    const { rows: answers } = await world.database.query<{ xml_path: string }>(
      'SELECT xml_path FROM received_approvals WHERE encf = $1',
      [encf],
    );
    const { rows: refused } = await world.database.query(
      'SELECT xml_path, repeats FROM refused_approvals WHERE encf = $1',
      [encf],
    );
    expect(answers).toHaveLength(1);
    expect(refused).toEqual([{ xml_path: answers[0]?.xml_path, repeats: 2 }]);
  });

  it('identical approvals stay one row when the reason of the refusal changes', async () => {
    const encf = await issued();
    const xml = await acecf(encf);
    const refusals = async () =>
      (
        await world.database.query<{ reason: string }>(
          'SELECT repeats, reason FROM refused_approvals WHERE encf = $1',
          [encf],
        )
      ).rows;
    await post(xml, SENDERS[0] as string);
    await post(xml, SENDERS[0] as string);
    const [first] = await refusals();
    await world.database.query("UPDATE refused_approvals SET reason = 'another reason' WHERE encf = $1", [encf]);
    await post(xml, SENDERS[0] as string);
    expect(await refusals()).toEqual([{ repeats: 1, reason: first?.reason }]);
  });

  it('a refused approval over the size leaves its checksum, and its record counts', async () => {
    const encf = await issued();
    const before = await unkept();
    await useUp(SENDERS[1] as string);
    expect((await post(forged(encf, 30_000), SENDERS[1] as string)).status).toBe(429);
    expect((await post(forged(encf, 30_000), SENDERS[0] as string)).status).toBe(400);
    expect(await rowsOf(encf)).toMatchObject([{ xml_path: null, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect((await unkept()).size).toBe(before.size + 1);
  });

  it('the reason of a refusal is bounded, also for a name of fifty thousand letters', async () => {
    const encf = await issued();
    const named = forged(encf, 10).replace('<ACECF>', `<ACECF ${'q'.repeat(49_000)}="">`);
    const { body } = await post(named, SENDERS[2] as string);
    expect(body).toEqual(refused(expect.stringContaining(STRUCTURE)));
    expect(body.mensaje[0].length).toBeLessThanOrEqual(480);
  });

  it('a sender chooses no part of the path of a refused approval', async () => {
    const encf = await issued();
    const whole = await acecf(encf, { RNCComprador: STRANGER });
    for (const xml of [whole, whole.replace('<MontoTotal>11430.00<', '<MontoTotal>11430.01<')]) {
      expect((await post(xml, SENDERS[1] as string)).status).toBe(400);
    }
    const paths = (await rowsOf(encf)).map(({ xml_path }) => xml_path);
    expect([paths.length, paths.some((path) => path === null || path.includes(STRANGER))]).toEqual([2, false]);
  });
});

describe('the reception of approvals', () => {
  const B = 'b0und4ry';
  const shapes: [string, (xml: string) => string, string][] = [
    [
      "the authority's own",
      (xml) =>
        `--${B}\r\nContent-Disposition: form-data; name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml\r\n\r\n${xml}\r\n--${B}--\r\n`,
      `multipart/form-data; boundary="${B}"`,
    ],
    [
      'a part with a strange type',
      (xml) =>
        `--${B}\r\nContent-Disposition: form-data; name="xml"; filename="a.xml"\r\nContent-Type: multipart/form-data;\r\n\r\n${xml}\r\n--${B}--\r\n`,
      `multipart/form-data; boundary=${B}`,
    ],
    [
      'a part of another name',
      (xml) => `--${B}\r\nContent-Disposition: form-data; name="file"\r\n\r\n${xml}\r\n--${B}--`,
      `multipart/form-data; boundary=${B}`,
    ],
    ['the document alone', (xml) => xml, 'application/octet-stream'],
    ['after line ends', (xml) => `\r\n\n${xml}`, 'text/xml'],
  ];
  it.each(shapes)('an approval is accepted in a body of the shape: %s', async (_name, shape, type) => {
    const encf = await issued();
    expect((await world.send(shape(await acecf(encf)), { 'content-type': type })).body).toEqual(ACCEPTED);
  });

  it.each([
    '/FE/AprobacionComercial/API/ECF',
    `${INGRESS}/`,
    `/testecf${INGRESS}`,
    `/TesteCF/fe/AprobacionComercial/api/ecf`,
  ])('accepts the address %s', async (address) => {
    const encf = await issued();
    expect((await world.send(await acecf(encf), {}, address)).body).toEqual(ACCEPTED);
  });

  it('an approval is accepted in a chunked body without length', async () => {
    const encf = await issued();
    const xml = await acecf(encf);
    const status = await new Promise((resolve, reject) => {
      const req = request(`${world.url()}${INGRESS}`, { method: 'POST' }, (res) => resolve(res.resume().statusCode));
      req.on('error', reject);
      for (let at = 0; at < xml.length; at += 700) req.write(xml.slice(at, at + 700));
      req.end();
    });
    expect(status).toBe(200);
  });
});

describe('GET /fe/aprobacioncomercial/api/invoices/{encf}', () => {
  it.each([
    ['/E3100', `?issuer_rnc=${ISSUER}`, 422],
    ['/E310000000001', '', 422],
    ['/E310000000001', '?issuer_rnc=12', 422],
    ['/E310099999999', `?issuer_rnc=${ISSUER}`, 404],
    ['/E310000000001', `?issuer_rnc=${STRANGER}`, 404],
  ])('answers %s%s with %i', async (path, query, status) => {
    expect((await world.call('GET', `/fe/aprobacioncomercial/api/invoices${path}${query}`)).status).toBe(status);
  });
});

it('a sender that used up its daily bytes gets 429, the refusal is counted, and its bytes are not recorded', async () => {
  const [first, second] = [await issued(), await issued()];
  const large = async (encf: string) => `${(await acecf(encf)).trimEnd()}${' '.repeat(900_000)}`;
  const sender = '198.51.100.66';
  expect((await world.send(await large(first), { 'x-sender': sender })).body).toEqual(ACCEPTED);
  const { status, body, headers } = await world.send(await large(second), { 'x-sender': sender });
  expect([status, body.code, Number(headers.get('retry-after')) > 1]).toEqual([429, 'daily_bytes_used', true]);
  for (const table of ['received_approvals', 'refused_approvals']) expect(await count(table, second)).toBe(0);
  expect(await world.metrics.render()).toMatch(
    /ecf_approvals_ingress_refusals_total\{.*reason="daily_bytes_used".*\} [1-9]/,
  );
  expect((await world.send(await acecf(second), { 'x-sender': sender })).body).toEqual(ACCEPTED);
});

it('an approval gets 503 storage_full while the disk is nearly full, and customers still read approvals', async () => {
  const full = await World.start({ settings: { MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER) } });
  try {
    const { status, body, headers } = await full.send('x');
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'storage_full', '60']);
    const health = await full.call('GET', '/health/ready');
    expect([health.status, health.body.checks]).toMatchObject([200, { database: 'ok', storage: 'ok' }]);
    const encf = await full.invoice('31', { at: ['issued'] });
    const listed = await full.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`);
    expect([listed.status, listed.body.encf]).toEqual([200, encf]);
    expect(await full.metrics.render()).toMatch(
      /ecf_approvals_ingress_refusals_total\{.*reason="storage_full".*\} 1\n/,
    );
  } finally {
    await full.stop();
  }
});

describe('PROVIDER_AUTH', () => {
  it('a call without a token of reception gets 401 if one is required', async () => {
    const guarded = await World.start({ settings: { PROVIDER_AUTH: 'required' } });
    try {
      guarded.goodToken = 'good';
      const encf = await guarded.invoice('31', { at: ['issued'] });
      const xml = await acecf(encf);
      for (const headers of [{}, { authorization: 'Bearer bad' }]) {
        const { status, body, headers: answered } = await guarded.send(xml, headers as Record<string, string>);
        expect([status, body.code, answered.get('www-authenticate')]).toEqual([
          401,
          'invalid_provider_token',
          'Bearer',
        ]);
      }
      expect((await guarded.send(xml, { authorization: 'Bearer good' })).status).toBe(200);
    } finally {
      await guarded.stop();
    }
  });
});
