import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { type Invoice, Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const CASE = path.resolve(import.meta.dirname, '../../../shared/cases/F4-second-certification-run.json');
const ISSUER = '199999991';
const NUMBER = 'E310000000001';
const deployment = useDeployment({ FIRST_RETRY_MS: '100', FIRST_QUERY_MS: '100', BACKGROUND_IDLE_MS: '250' });
const numbers = new Numbering({ rnc: ISSUER, name: 'Comercial Palma Ficticia, SRL' });
const HEADERS = { env: 'CerteCF', 'rnc-issuing': ISSUER };
let account: string;

/** The document of a set under its number, with this name of its first line. */
function ofSet(name: string): Invoice {
  const { invoice } = numbers.next('ecf-31');
  const document = fs.existsSync(CASE) ? JSON.parse(fs.readFileSync(CASE, 'utf8')) : invoice;
  document.ECF.Encabezado.IdDoc.eNCF = NUMBER;
  document.ECF.DetallesItems.Item[0].NombreItem = name;
  return document;
}

function automatic(): Invoice {
  const { invoice } = numbers.next('ecf-41');
  delete invoice.ECF.Encabezado.IdDoc.eNCF;
  delete invoice.ECF.Encabezado.IdDoc.FechaVencimientoSecuencia;
  return invoice;
}

/** A credit note that states another date of its invoice. */
const note = () =>
  numbers.next('ecf-34', (ecf) => {
    Object.assign(ecf.InformacionReferencia, { NCFModificado: NUMBER, FechaNCFModificado: '14-06-2026' });
    ecf.Encabezado.Comprador.RNCComprador = '188888885';
  }).invoice;

const submit = (invoice: Invoice, key?: string): Promise<Answer> =>
  deployment.demo.submit(invoice, { ...HEADERS, ...(key === undefined ? {} : { 'idempotency-key': key }) });
const get = async (address: string) => (await deployment.demo.call('GET', address, { headers: HEADERS })).body;
const list = async (query = '') => {
  const period = { 'start-date': '01-01-2020', 'end-date': '31-12-2099' };
  return (await deployment.demo.call('GET', `/invoices/${query}`, { headers: { ...HEADERS, ...period } })).body;
};
const start = (body: object) => deployment.demo.admin('POST', `/accounts/${account}/taxpayers/${ISSUER}/runs`, body);

beforeAll(async () => {
  account = (await deployment.demo.call('GET', '/account')).body.account.id;
  const ranges = `/accounts/${account}/taxpayers/${ISSUER}/ranges`;
  const { body } = await deployment.demo.admin('GET', ranges);
  const range = { env: 'CerteCF', ecf_type: '41', from: 'E410000000001', to: 'E410000000100', expires: '2099-12-31' };
  const kept = body.map(({ next: _, remaining: __, ...one }: { next: unknown; remaining: unknown }) => one);
  expect((await deployment.demo.admin('PUT', ranges, [...kept, range])).status).toBe(200);
});

describe('a certification set that the authority restarts', () => {
  let first: Answer;
  let second: Answer;

  it('is sent again under the same numbers in a new run', async () => {
    first = await submit(ofSet('ARTICULO DEL SET VIEJO'));
    expect(first.body).toMatchObject({ encf: NUMBER, status: 'Aceptado' });
    for (const key of ['set-1', 'set-2']) expect((await submit(automatic(), key)).body.status).toBe('Aceptado');
    const refused = await submit(ofSet('ARTICULO DEL SET NUEVO'));
    expect(refused).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });

    const restarted = await deployment.demo.control('POST', `/certification/${ISSUER}/restart`, { env: 'CerteCF' });
    expect(restarted.status).toBe(204);
    const began = await start({ env: 'CerteCF', reason: 'the authority restarted the set' });
    expect(began).toMatchObject({ status: 201, body: { run: 2, env: 'CerteCF', superseded: 3 } });

    second = await submit(ofSet('ARTICULO DEL SET NUEVO'));
    expect(second.body).toMatchObject({ encf: NUMBER, status: 'Aceptado' });
    expect(second.body.trackId).not.toBe(first.body.trackId);
    const sent = (await deployment.demo.control('GET', `/submissions?encf=${NUMBER}&rnc=${ISSUER}&operation=recepcion`))
      .body;
    const inCertification = sent.filter(({ env }: { env: string }) => env === 'CerteCF');
    expect(inCertification.map(({ status }: { status: string }) => status)).toEqual(['Aceptado', 'Aceptado']);
  });

  it('begins automatic numbers again, under keys of the run before too', async () => {
    const again = await submit(automatic(), 'set-1');
    expect(again.body).toMatchObject({ encf: 'E410000000001', status: 'Aceptado' });
    expect((await submit(automatic(), 'set-1')).body.trackId).toBe(again.body.trackId);
  });

  it('lists the documents of the run before only where superseded=true asks for them', async () => {
    const present = await until(
      () => list(),
      ({ total }) => total === 2,
    );
    expect(present.invoices.map((one: { run: number; superseded: boolean }) => [one.run, one.superseded])).toEqual([
      [2, false],
      [2, false],
    ]);
    const all = await list('?superseded=true');
    expect(all.total).toBe(5);
    expect(all.invoices.filter(({ superseded }: { superseded: boolean }) => superseded)).toHaveLength(3);
  });

  it('gives the signed documents of both runs', async () => {
    expect(await get(`/invoices/${NUMBER}`)).toMatchObject({ run: 2, superseded: false });
    expect(await get(`/invoices/${NUMBER}?run=1`)).toMatchObject({ run: 1, superseded: true });
    const xml = (query: string) => get(`/${NUMBER}/xml?issuer_rnc=${ISSUER}${query}`);
    expect(await xml('')).toBe(second.body.xml);
    expect(await xml('&run=1')).toBe(first.body.xml);
    expect((await get(`/trackids/${NUMBER}?run=1`)).track_ids[0].track_id).toBe(first.body.trackId);
  });

  it('does not compare a note with a document of the run before', async () => {
    const check = () => deployment.demo.submit(note(), HEADERS, '?validate=true');
    expect((await check()).body).toMatchObject({ code: 'invalid_document' });
    await start({ env: 'CerteCF', reason: 'once more' });
    expect((await check()).status).toBe(200);
  });

  it('is in the audit log, and never in production', async () => {
    const { body } = await deployment.demo.admin('GET', '/audit?action=run.start&limit=1000');
    expect(body.entries).toMatchObject([
      { actor: 'ADMIN_TOKEN', target: `/accounts/${account}/taxpayers/${ISSUER}/runs`, details: { run: 2 } },
      { details: { env: 'CerteCF', run: 3, reason: 'once more', superseded: 2 } },
    ]);
    expect(await start({ env: 'eCF', reason: 'x' })).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    // The sandbox issued this number in TesteCF; there it stays used.
    const elsewhere = await deployment.demo.submit(ofSet('EN OTRO AMBIENTE'));
    expect(elsewhere.body.code).toBe('encf_already_used');
    await until(
      () => get(`/invoices/${NUMBER}?run=2`),
      ({ superseded }) => superseded === true,
    );
  });
});
