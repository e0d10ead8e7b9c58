import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventListSchema, OPERATIONS } from '@ecf/contracts';
import { parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { qrPng } from '@ecf/printed-form';
import { openCertificate, signXml, verifyXml } from '@ecf/xml-signing';
import { describe, expect, it } from '@jest/globals';
import { type Answer, Client, testCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { metricsOf, readAlarms, readDashboards } from '../support/deployment/observability.js';
import { DEPLOYMENT } from '../support/deployment/standalone-process.js';
import { readArchive } from '../support/deployment/xml-archive.js';
import {
  encf as encfOf,
  type Invoice,
  Numbering,
  signedByCaller,
  summaryByCaller,
} from '../support/documents/documents.js';
import { operationsServed } from '../support/operations-served.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** Metrics of the brokers and of the shared cache, which the standalone deployment does not have. */
const OF_SERVERS = /^ecf_(consumer_\w+|foreign_events_total|shared_cache_\w+)$/;
/** Retries are late, so a failed first delivery fails the test. */
const deployment = useDeployment(
  { DELIVERY_FIRST_RETRY_MS: '60000', FIRST_QUERY_MS: '200', APPROVAL_DEADLINE_DAYS: '30' },
  // Services log in to a broker of their own as users that can use their topics only. Images do not see the socket of its database.
  { ownServers: process.env.SERVICE_RUNNER === undefined },
);

type Body = Answer['body'];
interface Party {
  rnc: string;
  numbers: Numbering;
}
/** An e-CF with the state that both sides show in the end. */
interface Course {
  encf: string;
  issuer: Party;
  buyer: Party;
  invoice: Invoice;
  /** The requested decision, and the record of it. */
  order: object;
  approval: Body;
  approval_status: 'pending' | 'approved' | 'rejected';
}

const palma: Party = { rnc: '199999991', numbers: new Numbering({ rnc: '199999991', name: 'Comercial Palma' }) };
const caoba: Party = { rnc: '188888885', numbers: new Numbering({ rnc: '188888885', name: 'Taller Caoba' }) };
const courses: Course[] = [];
/** Consumer summaries of the issuer. */
const summaries: string[] = [];
const cancellations: Body[] = [];

const get = (path: string, headers: Record<string, string> = {}) => deployment.demo.call('GET', path, { headers });
const post = (path: string, body: object) =>
  deployment.demo.call('POST', path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const today = () => {
  const local = new Date(Date.now() - 4 * 3_600_000).toISOString();
  return local.slice(0, 10).split('-').reverse().join('-');
};
const issued = async ({ encf, issuer }: Course): Promise<Body> =>
  (await get(`/invoices/${encf}`, { 'rnc-issuing': issuer.rnc })).body;
const received = async ({ encf, issuer, buyer }: Course): Promise<Body> =>
  (await get(`/fe/recepcion/api/invoices/${encf}`, { 'buyer-rnc': buyer.rnc, 'provider-rnc': issuer.rnc })).body;

const bySystem = async (invoice: Invoice): Promise<void> => {
  const { body } = await deployment.demo.submit(invoice);
  expect([body.encf, body.status]).toEqual([invoice.ECF.Encabezado.IdDoc.eNCF, 'Aceptado']);
};
/** Submits a document that the caller signed, with a token obtained before. */
const byCaller = async (invoice: Invoice): Promise<void> => {
  const { xml } = await signedByCaller(invoice, testCertificate(palma.rnc, { validFromDays: -365 }));
  const { status, body } = await deployment.demo.submitSigned('/submit_ecf', xml, await deployment.demo.token());
  expect([status, body.trackId]).toEqual([200, expect.any(String)]);
};

/** Submits a document as a batch of one. */
const byBatch = async (invoice: Invoice): Promise<void> => {
  const encf = invoice.ECF.Encabezado.IdDoc.eNCF;
  const made = await post('/batches', [invoice]);
  expect([made.status, made.body.total]).toEqual([202, 1]);
  const address = `/batches/${made.body.batch_id}`;
  const batch = await until(
    async () => (await get(address)).body,
    ({ finished_at }) => finished_at !== null,
  );
  expect(batch).toMatchObject({ status: 'done', total: 1, accepted: 1, pending: 0, in_process: 0 });
  expect((await get('/batches')).body.batches).toContainEqual(batch);
  expect((await get('/contingency')).body).toEqual({ count: 0, total: 0, next: null, documents: [] });
  const { body } = await get(`${address}/results`);
  expect(body.results).toMatchObject([{ line: 1, encf, status: 'Aceptado', error: null }]);
  expect((await post(`${address}/cancel`, {})).body).toEqual(batch);
  const issuer_rnc = invoice.ECF.Encabezado.Emisor.RNCEmisor;
  const told = await until(
    async () => (await get('/events?types=batch.done')).body.events,
    ({ length }) => length > 0,
  );
  expect(told).toMatchObject([{ subject: { issuer_rnc, encf: null }, data: batch }]);
};

/** Submits an e-CF and waits until it is accepted, delivered to the buyer and acknowledged. */
async function issue(
  issuer: Party,
  buyer: Party,
  { example = 'ecf-31', edit = (_: Invoice) => {}, submit = bySystem } = {},
): Promise<Course> {
  const { invoice, encf } = issuer.numbers.next(example, (ecf) => {
    ecf.Encabezado.Comprador.RNCComprador = buyer.rnc;
    edit(ecf);
  });
  await submit(invoice);
  const course: Course = { encf, issuer, buyer, invoice, order: {}, approval: null, approval_status: 'pending' };
  await until(
    () => issued(course),
    ({ delivery_status }) => delivery_status === 'delivered',
  );
  courses.push(course);
  return course;
}

/** Sends the buyer's decision about the received e-CF. */
async function decide(course: Course, decision: object): Promise<void> {
  const { id, total_amount, date_issued } = await received(course);
  course.order = {
    ecf_document_id: id,
    issuer_rnc: course.issuer.rnc,
    receiver_rnc: course.buyer.rnc,
    encf: course.encf,
    approval_datetime: '2026-06-23T17:45:47-04:00',
    authority_environment: 'TesteCF',
    invoice_date_issued: date_issued.slice(0, 10),
    invoice_total_amount: total_amount.toFixed(2),
    ...decision,
  };
  const made = await post('/acecf/', course.order);
  expect([made.status, made.body]).toMatchObject([
    201,
    { authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered', warnings: [] },
  ]);
  course.approval = made.body;
  course.approval_status = made.body.approval_status === 1 ? 'approved' : 'rejected';
}

/** Expects that both sides show the decision, and the issuer its reason. */
async function shows(course: Course, reason: string | null): Promise<void> {
  const word = course.approval_status;
  for (const side of [issued, received]) {
    const seen = await until(
      () => side(course),
      ({ approval_status }) => approval_status !== 'pending',
    );
    // The buyer signed its acknowledgement with the same key.
    expect(seen).toMatchObject({ approval_status: word, approval_confirmed: true });
  }
  const { rnc } = course.issuer;
  const address = `/fe/aprobacioncomercial/api/invoices/${course.encf}`;
  const { body: answers } = await get(`${address}/answers?issuer_rnc=${rnc}`);
  expect(answers).toMatchObject({
    count: 1,
    answers: [{ approval_status: word, rejection_reason: reason, confirmed: true, counts: true }],
  });
  expect((await get(`${address}?issuer_rnc=${rnc}`)).body).toEqual({
    encf: course.encf,
    issuer_rnc: rnc,
    buyer_rnc: course.buyer.rnc,
    approval_status: word,
    approval_confirmed: true,
    approval_datetime: '2026-06-23T17:45:47-04:00',
    rejection_reason: reason,
    signer: answers.answers[0].signer,
  });
  expect((await get(`/acecf/${course.approval.id}`)).body).toEqual(course.approval);
  const again = await post('/acecf/', course.order);
  expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining(`id ${course.approval.id}`)]);
}

/** Both sides read the submitted JSON with its signing time. Sent again it is a repeat, and it is valid under another number. */
async function readBack({ encf, invoice, issuer, buyer }: Course): Promise<void> {
  const of = (number: string, rnc = issuer.rnc) => get(`/invoices/${number}/document`, { 'rnc-issuing': rnc });
  const { status, body } = await of(encf);
  const signed = { ECF: { ...invoice.ECF, FechaHoraFirma: expect.stringMatching(/^\d\d-\d\d-\d{4} [\d:]{8}$/) } };
  expect([status, body]).toEqual([200, signed]);
  const parties = { 'buyer-rnc': buyer.rnc, 'provider-rnc': issuer.rnc };
  const atBuyer = await get(`/fe/recepcion/api/invoices/${encf}/document`, parties);
  expect([atBuyer.status, atBuyer.body]).toEqual([200, body]);
  const printed = [
    await get(`/invoices/${encf}/pdf`, { 'rnc-issuing': issuer.rnc }),
    await get(`/fe/recepcion/api/invoices/${encf}/pdf`, parties),
  ];
  expect(printed.map((one) => [one.status, one.headers.get('content-type')])).toEqual([
    [200, 'application/pdf'],
    [200, 'application/pdf'],
  ]);
  for (const image of ['qr.svg', 'qr.png'])
    expect((await get(`/invoices/${encf}/${image}`, { 'rnc-issuing': issuer.rnc })).status).toBe(200);
  expect(await deployment.demo.submit(body)).toMatchObject({ status: 200, body: { encf, status: 'Aceptado' } });
  expect(await deployment.demo.ledger(encf)).toHaveLength(1);
  const refusals = [await of(encf, '101000066'), await of(encfOf('31', 999_999))];
  expect(refusals.map((one) => [one.status, one.body.code])).toEqual([
    [404, 'taxpayer_not_found'],
    [404, 'not_found'],
  ]);
  body.ECF.Encabezado.IdDoc.eNCF = encfOf('31', 888_888);
  expect((await deployment.demo.submit(body, {}, '?validate=true')).status).toBe(200);
}

describe('two taxpayers that invoice each other', () => {
  it('an invoice is accepted, delivered, acknowledged and listed at its buyer', async () => {
    const course = await issue(palma, caoba);
    const arecf = await get(`/received-arecf/${course.encf}?issuer_rnc=${palma.rnc}`);
    expect([arecf.status, arecf.body]).toMatchObject([
      200,
      { buyer_rnc: caoba.rnc, receipt_status: 0, rejection_code: null, valid: true, validation_error: null },
    ]);
    const listed = await get(`/received-arecf/?issuer_rnc=${palma.rnc}&receipt_status=0&encf=${course.encf}`);
    expect(listed.body).toEqual([arecf.body]);
    const period = { 'buyer-rnc': caoba.rnc, 'start-date': today(), 'end-date': today() };
    const all = await get('/fe/recepcion/api/invoices/all', period);
    const ofProvider = await get('/fe/recepcion/api/invoices', { ...period, 'provider-rnc': palma.rnc });
    for (const { body } of [all, ofProvider]) {
      const own = body.invoices.filter(({ encf }: Body) => encf === course.encf);
      expect(own).toMatchObject([{ provider_rnc: palma.rnc, approval_status: 'pending', total_amount: 11_430 }]);
    }
    await readBack(course);
    await decide(course, { approval_status: 1 });
    await shows(course, null);
  });

  it('another is rejected by its buyer; a credit note cancels it and is approved', async () => {
    const rejected = await issue(palma, caoba);
    await decide(rejected, { approval_status: 2, rejection_code: 1 });
    await shows(rejected, 'Bienes o servicios no recibidos');
    expect((await issued(rejected)).status).toBe('Aceptado');
    const { Totales } = rejected.invoice.ECF.Encabezado;
    const annul = (ecf: Invoice) => {
      Object.assign(ecf, { DetallesItems: rejected.invoice.ECF.DetallesItems });
      Object.assign(ecf.Encabezado, { Totales });
      Object.assign(ecf.InformacionReferencia, {
        NCFModificado: rejected.encf,
        FechaNCFModificado: rejected.invoice.ECF.Encabezado.Emisor.FechaEmision,
        CodigoModificacion: '1',
        RazonModificacion: 'Rechazada por el comprador',
      });
    };
    const note = await issue(palma, caoba, { example: 'ecf-34', edit: annul });
    expect((await issued(note)).modified_encf).toBe(rejected.encf);
    await decide(note, { approval_status: 1 });
    await shows(note, null);
  });

  it('an invoice in the other direction is rejected with a reason in words', async () => {
    const course = await issue(caoba, palma);
    await decide(course, { approval_status: 2, rejection_code: 3, rejection_description: 'Precio & plazo <otros>' });
    await shows(course, 'Precio & plazo <otros>');
  });

  it('a document signed by the caller takes the same way; a summary goes to the authority only', async () => {
    const course = await issue(palma, caoba, { submit: byCaller });
    await decide(course, { approval_status: 1 });
    await shows(course, null);
    const { invoice, encf } = palma.numbers.next('ecf-32');
    const { xml } = await summaryByCaller(invoice, testCertificate(palma.rnc));
    const { status, body } = await deployment.demo.submitSigned('/submit_fc', xml, await deployment.demo.token());
    expect([status, body.status]).toEqual([200, 'Aceptado']);
    summaries.push(encf);
  });

  it('a document of a batch takes the same way', async () => {
    const course = await issue(palma, caoba, { submit: byBatch });
    await decide(course, { approval_status: 1 });
    await shows(course, null);
  });

  it('numbers that are cancelled are never issued, and issued numbers are never cancelled', async () => {
    const [first, last] = [encfOf('31', 9_001), encfOf('31', 9_010)];
    const order = (from: string, to: string) => ({
      issuer_rnc: palma.rnc,
      authority_environment: 'TesteCF',
      detail_lines: [{ line_number: 1, ecf_type: '31', sequence_ranges: [{ encf_desde: from, encf_hasta: to }] }],
    });
    const made = await post('/anecf/', order(first, last));
    expect([made.status, made.body]).toMatchObject([201, { authority_status: 'Aceptado', total_encf_canceled: 10 }]);
    cancellations.push(made.body);
    expect((await get(`/anecf/${made.body.id}`)).body).toEqual(made.body);
    expect((await get(`/anecf/?issuer_rnc=${palma.rnc}`)).body).toEqual([made.body]);
    const { invoice } = palma.numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.IdDoc.eNCF = encfOf('31', 9_005);
    });
    const refused = await deployment.demo.submit(invoice);
    expect([refused.status, refused.body.code]).toEqual([409, 'encf_cancelled']);
    const used = courses[0]?.encf as string;
    const again = await post('/anecf/', order(used, used));
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining(used)]);
  });
});

describe("the authority's ledger, the records of both sides and the archive", () => {
  it('agree on every document and hold no others', async () => {
    const { running, demo, dataDir } = deployment;
    // The sandbox issues this invoice at its first start.
    const first = { encf: 'E310000000001', issuer: palma, buyer: caoba, approval: null, approval_status: 'pending' };
    courses.push(first as Course);
    await until(
      () => issued(first as Course),
      ({ delivery_status }) => delivery_status === 'delivered',
    );
    await until(
      () => deployment.metrics(),
      (text) => text.match(/^ecf_archive_pending_documents\{.*\} 0$/gm)?.length === 3,
    );
    const archive = await readArchive(dataDir, process.env);
    const { body: ledger } = await demo.control('GET', '/submissions');
    const known = new Set<string>();
    for (const course of courses) {
      const { encf, issuer, approval } = course;
      const at = { encf, issuer: issuer.rnc };
      const [ours, theirs] = [await issued(course), await received(course)];
      expect({ ...at, ...ours }).toMatchObject({ ...at, status: 'Aceptado', delivery_status: 'delivered' });
      expect([ours.approval_status, theirs.approval_status]).toEqual([course.approval_status, course.approval_status]);
      expect(theirs).toMatchObject({ provider_rnc: issuer.rnc, total_amount: Number(ours.total_amount) });
      expect(theirs.date_issued.slice(0, 10)).toBe(ours.date_issued);
      const xml = (await get(`/${encf}/xml?issuer_rnc=${issuer.rnc}`)).text;
      const arecf = (await get(`/received-arecf/${encf}?issuer_rnc=${issuer.rnc}`)).body;
      const returned = (await get(`/received-arecf/${encf}/xml?issuer_rnc=${issuer.rnc}`)).text;
      expect((await get(`/arecf/${encf}?issuer_rnc=${issuer.rnc}`)).text).toBe(returned);
      const acecf = approval === null ? null : (await get(`/acecf/${approval.id}/xml`)).text;

      const rows = ledger.filter((row: Body) => row.encf === encf && row.rnc === issuer.rnc);
      const own = rows.filter(({ operation }: Body) => operation === 'recepcion');
      expect(own).toMatchObject([
        { sha256: ours.xml_checksum, track_id: ours.track_id, effective: true, answered: true },
      ]);
      const copies = rows.filter(({ operation }: Body) => operation === 'aprobacioncomercial');
      expect(copies.map(({ sha256, effective }: Body) => [sha256, effective])).toEqual(
        approval === null ? [] : [[approval.xml_checksum, true]],
      );
      expect(rows).toHaveLength(own.length + copies.length);

      // Writer and receiver of a document keep the same bytes.
      const kept = [
        { document: 'ECF', text: xml, sha256: ours.xml_checksum, paths: [ours, theirs] },
        { document: 'ARECF', text: returned, sha256: arecf.xml_checksum, paths: [arecf] },
        ...(acecf === null
          ? []
          : [{ document: 'ACECF', text: acecf, sha256: approval.xml_checksum, paths: [approval] }]),
      ];
      for (const { document, text, sha256, paths } of kept) {
        const files = archive.filter((file) => file.sha256 === sha256);
        expect(files).toMatchObject([
          { document, encf, text },
          { document, encf, text },
        ]);
        expect(files.map(({ path }) => path)).toEqual(
          expect.arrayContaining(paths.map(({ xml_storage_path }) => xml_storage_path)),
        );
        expect(verifyXml(Buffer.from(text)).signature).toBe('valid');
        known.add(sha256);
      }
    }
    for (const encf of summaries) {
      const { body } = await get(`/invoices/${encf}`, { 'rnc-issuing': palma.rnc });
      expect(body).toMatchObject({ route: 'rfce', status: 'Aceptado', delivery_status: 'not_required' });
      const rows = ledger.filter((row: Body) => row.encf === encf);
      expect(rows).toMatchObject([{ operation: 'recepcionfc', sha256: body.xml_checksum, effective: true }]);
      const files = archive.filter(({ sha256 }) => sha256 === body.xml_checksum);
      expect(files).toMatchObject([{ document: 'RFCE', encf, path: body.xml_storage_path }]);
      known.add(body.xml_checksum);
    }
    expect(ledger.filter(({ operation }: Body) => operation === 'anulacionrangos')).toMatchObject(
      cancellations.map(({ xml_checksum }) => ({ sha256: xml_checksum, rnc: palma.rnc, effective: true })),
    );
    for (const { id, xml_checksum, xml_storage_path } of cancellations) {
      const { text } = await get(`/anecf/${id}/xml`);
      const files = archive.filter(({ sha256 }) => sha256 === xml_checksum);
      expect(files).toMatchObject([{ document: 'ANECF', path: xml_storage_path, text }]);
      expect(verifyXml(Buffer.from(text)).signature).toBe('valid');
      known.add(xml_checksum);
    }
    expect(archive.filter(({ sha256 }) => !known.has(sha256)).map(({ path }) => path)).toEqual([]);
    const documents = ledger.filter(({ operation }: Body) => /^(recepcion|aprobacion)/.test(operation));
    expect(documents.filter(({ sha256 }: Body) => !known.has(sha256))).toEqual([]);
    for (const party of [palma, caoba]) {
      const period = { 'rnc-issuing': party.rnc, 'start-date': today(), 'end-date': today() };
      const { body } = await get('/invoices/', period);
      const numbers = courses.filter(({ issuer }) => issuer === party).map(({ encf }) => encf);
      if (party === palma) numbers.push(...summaries);
      expect(body.invoices.map(({ encf }: Body) => encf).sort()).toEqual(numbers.sort());
      const given = (await get(`/acecf/?receiver_rnc=${party.rnc}&limit=100`)).body;
      const decided = courses.filter(({ buyer, approval }) => buyer === party && approval !== null);
      expect(given.map(({ encf }: Body) => encf).sort()).toEqual(decided.map(({ encf }) => encf).sort());
    }
    expect(running.demo.issuer_rnc).toBe(palma.rnc);
  });
});

describe('every operation of the specification', () => {
  it('not used by the cycle answers about its documents', async () => {
    const [course] = courses as [Course];
    const [small] = summaries as [string];
    const own = await issued(course);
    const period = { 'rnc-issuing': palma.rnc, 'start-date': today(), 'end-date': today() };
    const atBuyer = { 'buyer-rnc': caoba.rnc, 'start-date': today(), 'end-date': today() };
    const count = courses.filter(({ issuer }) => issuer === palma).length + summaries.length;
    expect((await get('/invoices/count', period)).body).toMatchObject({ total_invoices: count });
    const sums = (await get('/invoices/aggregate', period)).body;
    expect(JSON.stringify(sums)).toContain(`"count":${count}`);
    await deployment.demo.until('Aceptado', () => get(`/invoice-status/${own.track_id}`));
    const trackIds = (await get(`/trackids/${course.encf}`, { 'rnc-issuing': palma.rnc })).body;
    expect(trackIds.track_ids).toMatchObject([{ track_id: own.track_id, final: true }]);
    const raw = (await get(`/trackids/${course.encf}/raw`, { 'rnc-issuing': palma.rnc })).text;
    expect(raw).toContain(own.track_id);
    const { security_code } = (await get(`/invoices/${small}`, { 'rnc-issuing': palma.rnc })).body;
    const consumer = await get(
      `/query-consumption-invoice?rnc_issuing=${palma.rnc}&encf=${small}&security_code=${encodeURIComponent(security_code)}`,
    );
    expect([consumer.status, consumer.body]).toMatchObject([200, { encf: small, status: 'Aceptado' }]);
    const received = courses.filter(({ buyer }) => buyer === caoba).length;
    const totals = (await get('/fe/recepcion/api/invoices/count', atBuyer)).body;
    expect(totals).toMatchObject({ total_invoices: received });
    expect((await get('/fe/recepcion/api/invoices/aggregate', atBuyer)).body).toMatchObject(totals);
    expect((await get('/directory/taxpayers')).body.map(({ rnc }: Body) => rnc)).toEqual(
      expect.arrayContaining([palma.rnc, caoba.rnc]),
    );
    expect((await get(`/directory/taxpayers/${caoba.rnc}`)).body.reception_url).toMatch(/^http/);
    expect((await get('/monitoring/status')).body).toMatchObject({ available: true });
    const { events, next } = await until(
      async () => (await get('/events?limit=1000')).body,
      ({ events }) =>
        events.some(({ type, subject }: Body) => type === 'approval.sent' && subject.encf === course.encf),
    );
    const about = (rnc: string) =>
      events
        .filter(({ subject }: Body) => subject.encf === course.encf && subject[rnc] === palma.rnc)
        .map(({ type }: Body) => type);
    const told = ['invoice.accepted', 'delivery.delivered', 'approval.received'];
    expect(about('issuer_rnc')).toEqual(expect.arrayContaining(told));
    expect(about('provider_rnc')).toEqual(expect.arrayContaining(['received.accepted', 'approval.sent']));
    expect((await get(`/events?after=${next}&types=cancellation.rejected`)).body.events).toEqual([]);
    // Every event has the data that the interface names for its type, and no other properties.
    expect(eventListSchema.parse({ events, next })).toEqual({ events, next });
  });

  it('of the public ingress answers other taxpayers: seed and token, e-CF, approval', async () => {
    const { p12, password } = testCertificate(palma.rnc);
    const signer = openCertificate(p12, password);
    const send = (path: string, xml: string) =>
      deployment.demo.call('POST', path, { headers: { 'content-type': 'text/xml' }, body: xml });
    const seed = (await get('/fe/autenticacion/api/semilla')).text;
    const signedSeed = await signXml(writeXml(readXml(parseXml(Buffer.from(seed)))), signer);
    const form = new FormData();
    form.set('xml', new Blob([signedSeed.xml]), 'semilla.xml');
    const route = '/fe/autenticacion/api/validacioncertificado';
    expect((await deployment.demo.call('POST', route, { body: form })).body.token).toEqual(expect.any(String));
    const course = await issue(palma, caoba);
    const { text: ecf } = await get(`/${course.encf}/xml?issuer_rnc=${palma.rnc}`);
    const repeated = await send('/fe/recepcion/api/ecf', ecf);
    expect([repeated.status, repeated.text]).toEqual([200, expect.stringContaining('<CodigoMotivoNoRecibido>3<')]);
    const { total_amount, date_issued } = await received(course);
    const local = await post('/acecf/?submit_to_authority=false', {
      issuer_rnc: palma.rnc,
      receiver_rnc: caoba.rnc,
      encf: course.encf,
      approval_status: 1,
      approval_datetime: '2026-06-23T17:45:47-04:00',
      authority_environment: 'TesteCF',
      invoice_date_issued: date_issued.slice(0, 10),
      invoice_total_amount: total_amount.toFixed(2),
    });
    const { text: acecf } = await get(`/acecf/${local.body.id}/xml`);
    const taken = await send('/fe/aprobacioncomercial/api/ecf', acecf);
    expect([taken.status, taken.body]).toEqual([
      200,
      { codigo: '1', estado: 'Aprobacion Comercial Aceptada', mensaje: [] },
    ]);
  });

  it('tells a webhook of the account what happens, signed, and again in a replay', async () => {
    const calls: { headers: Record<string, string>; text: string }[] = [];
    const receiver = createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const headers = req.headers as Record<string, string>;
      calls.push({ headers, text: Buffer.concat(chunks).toString('utf8') });
      res.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const { demo } = deployment;
      const accounts = (await demo.admin('GET', '/accounts')).body as Body[];
      const owners = await Promise.all(
        accounts.map(async ({ id }) =>
          (await demo.admin('GET', `/accounts/${id}/taxpayers/${palma.rnc}`)).status === 200 ? id : null,
        ),
      );
      const address = `/accounts/${owners.find((id) => id !== null)}/webhooks`;
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
      const { next } = (await get('/events?limit=1000')).body;
      const { status, body: made } = await demo.admin('POST', address, { url, types: ['invoice.accepted'] });
      expect([status, made]).toMatchObject([201, { url, active: true, secret: expect.stringMatching(/^whsec_/) }]);
      const { invoice, encf } = palma.numbers.next('ecf-31', () => {});
      await bySystem(invoice);
      const about = async () => calls.filter(({ text }) => JSON.parse(text).subject.encf === encf);
      const [{ headers, text }] = (await until(about, ({ length }) => length > 0)) as [(typeof calls)[0]];
      const key = Buffer.from(made.secret.slice('whsec_'.length), 'base64');
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
      const { events } = (await get(`/events?after=${next}&types=invoice.accepted`)).body;
      expect(events).toContainEqual(JSON.parse(text));
      expect(await demo.admin('POST', `${address}/${made.id}/test`)).toMatchObject({
        status: 200,
        body: { status: 204 },
      });
      expect((await demo.admin('POST', `${address}/${made.id}/replay`, { after: next })).status).toBe(202);
      await until(about, ({ length }) => length > 1);
      const rotated = await demo.admin('POST', `${address}/${made.id}/rotate`);
      expect(rotated.body.secret).not.toBe(made.secret);
      expect((await demo.admin('DELETE', `${address}/${made.id}`)).status).toBe(204);
      expect((await demo.admin('GET', `${address}/${made.id}`)).status).toBe(404);
      const acts = (await demo.admin('GET', '/audit?limit=1000')).body.entries;
      const ours = acts.filter(({ target }: Body) => target.endsWith(`/webhooks/${made.id}`));
      const verbs = ['create', 'test', 'replay', 'rotate', 'delete'].map((verb) => `webhook.${verb}`);
      expect(ours.map(({ action }: Body) => action)).toEqual(verbs);
      expect(JSON.stringify(acts)).not.toContain('whsec_');
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  it('lets a key with the scope manage change the settings of its account', async () => {
    const { demo } = deployment;
    const rnc = '101000066';
    const accountId = (await demo.admin('POST', '/accounts', { name: 'Ajustes' })).body.id as string;
    await demo.admin('POST', `/accounts/${accountId}/taxpayers`, { rnc, name: 'Ajustes Inventados, SRL' });
    const made = await demo.admin('POST', `/accounts/${accountId}/api-keys`, {
      name: 'ajustes',
      environments: ['TesteCF'],
      scopes: ['read', 'manage'],
    });
    const client = new Client(deployment.running, made.body.key);
    const call = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await client.call(method, path, body === undefined ? {} : { headers, body: JSON.stringify(body) });
      expect([path, answer.status < 300]).toEqual([path, true]);
      return answer.body;
    };
    const form = new FormData();
    const file = testCertificate(rnc);
    form.set('certificate', new Blob([new Uint8Array(file.p12)]), 'firma.p12');
    form.set('password', file.password);
    const certificate = (await client.call('PUT', `/account/taxpayers/${rnc}/certificate`, { body: form })).body;
    expect(await call('GET', `/account/taxpayers/${rnc}/certificate`)).toEqual(certificate);
    const logoPath = `/account/taxpayers/${rnc}/logo`;
    const picture = { headers: { 'content-type': 'image/png' }, body: new Uint8Array(qrPng('logo')) };
    expect((await client.call('PUT', logoPath, picture)).status).toBe(200);
    expect((await client.call('GET', logoPath)).headers.get('content-type')).toBe('image/png');
    expect((await client.call('DELETE', logoPath)).status).toBe(204);
    expect(await call('POST', `/account/taxpayers/${rnc}/runs`, { env: 'TesteCF', reason: 'x' })).toMatchObject({
      run: 2,
    });
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000000009', expires: null };
    await call('PUT', `/account/taxpayers/${rnc}/ranges`, [range]);
    const left = { ...range, next: 'E310000000001', remaining: 9 };
    expect(await call('GET', `/account/taxpayers/${rnc}/ranges`)).toEqual([left]);
    expect(await call('GET', '/account')).toMatchObject({
      environments: ['TesteCF'],
      scopes: ['read', 'manage'],
      taxpayers: [{ rnc, certificate_not_after: certificate.not_after, ranges: [left] }],
    });

    const key = await call('POST', '/account/api-keys', { name: 'x', environments: ['TesteCF'], scopes: ['read'] });
    const next = await call('POST', `/account/api-keys/${key.id}/rotate`, {});
    expect(await call('GET', `/account/api-keys/${next.id}`)).toMatchObject({ scopes: ['read'] });
    expect(await call('PATCH', `/account/api-keys/${next.id}`, { refuse_warnings: true })).toMatchObject({
      refuse_warnings: true,
    });
    expect(await call('GET', '/account/api-keys')).toHaveLength(3);
    await call('DELETE', `/account/api-keys/${next.id}`);

    const webhook = { url: 'http://127.0.0.1:1/events', environments: ['TesteCF'] };
    const { id } = await call('POST', '/account/webhooks', webhook);
    expect(await call('GET', '/account/webhooks')).toMatchObject([{ id }]);
    await call('PATCH', `/account/webhooks/${id}`, { types: ['invoice.held'] });
    expect(await call('GET', `/account/webhooks/${id}`)).toMatchObject({ types: ['invoice.held'] });
    await call('POST', `/account/webhooks/${id}/rotate`);
    await call('POST', `/account/webhooks/${id}/replay`, { after: (await call('GET', '/events?limit=1')).next });
    expect(await call('POST', `/account/webhooks/${id}/test`)).toMatchObject({ status: null });
    await call('DELETE', `/account/webhooks/${id}`);
    const { entries } = (await demo.admin('GET', `/audit?limit=1000&actor=api_key:${made.body.id}`)).body;
    expect(entries.at(-1)).toMatchObject({ action: 'webhook.delete', target: `/accounts/${accountId}/webhooks/${id}` });
  });

  it('leaves each class of use of a certificate in the audit log, once a day', async () => {
    const file = testCertificate(palma.rnc, {
      holderId: '00100000017',
      key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    });
    const { fingerprint } = openCertificate(file.p12, file.password);
    for (const _ of [1, 2]) {
      const { invoice } = palma.numbers.next('ecf-31', () => {});
      expect((await deployment.demo.submitWith(invoice, file)).status).toBe(200);
    }
    const classes = async ({ rnc }: Party): Promise<string[]> => {
      const { body } = await deployment.demo.admin('GET', '/audit?action=certificate.use&limit=1000');
      const uses = body.entries.filter(({ target }: Body) => target.endsWith(`/taxpayers/${rnc}/certificate`));
      // One entry for each class and day, and for each receiver whose seed was signed.
      const entries = uses.map(({ details }: Body) => [details.day, details.use, details.fingerprint, details.host]);
      expect(new Set(entries.map(String)).size).toBe(entries.length);
      for (const [, use, , host] of entries)
        expect(typeof host).toBe(use === 'receiver_login' ? 'string' : 'undefined');
      return entries.map(([day, use, certificate]: string[]) =>
        [day, use, certificate === fingerprint ? 'of the request' : 'stored'].join(' '),
      );
    };
    const stored = ['acecf', 'anecf', 'arecf', 'ecf', 'login', 'receiver_login'].map((use) => `${use} stored`);
    const own = ['ecf of the request', 'login of the request'];
    const named = (uses: string[]) => [...new Set(uses.map((use) => use.slice('2026-06-23 '.length)))].sort();
    const all = await until(
      () => classes(palma),
      (uses) => named(uses).length >= stored.length + own.length,
    );
    expect(named(all)).toEqual([...stored, ...own].sort());
    expect(named(await classes(caoba))).toEqual(stored.filter((use) => !use.startsWith('anecf')));
  });

  it('has been called with success', () => {
    const served = operationsServed();
    expect(OPERATIONS.map(({ id }) => id).filter((id) => !served.has(id))).toEqual([]);
  });
});

it('exports every metric that alarms and dashboards name', async () => {
  const expressions = [
    ...readAlarms(ROOT).map(({ expr }) => expr),
    ...readDashboards(ROOT).flatMap(({ exprs }) => exprs),
  ];
  const exported: readonly string[] = (await deployment.metrics()).match(/(?<=^# TYPE )\S+/gm) ?? [];
  const missing = [...new Set(expressions.flatMap(metricsOf))].filter((metric) => !exported.includes(metric));
  expect(missing.filter((metric) => DEPLOYMENT === 'distributed' || !OF_SERVERS.test(metric))).toEqual([]);
});

it('exports the counters whose increase is an alarm before they count, so that the first one is an increase', async () => {
  // An alarm at more than a first increase needs no earlier value.
  const first = /increase\((\w+)(?:\{([^}]*)\})?\[\w+\]\)+ > 0/g;
  const counters = readAlarms(ROOT).flatMap(({ expr }) => [...expr.matchAll(first)]);
  const exported = (await deployment.metrics()).split('\n');
  const missing = counters.filter(
    ([, name = '', labels = '']) => !exported.some((line) => line.startsWith(name) && line.includes(labels)),
  );
  const names = missing.map(([, name = '']) => name);
  expect(counters).not.toHaveLength(0);
  expect(names.filter((name) => DEPLOYMENT === 'distributed' || !OF_SERVERS.test(name))).toEqual([]);
});
