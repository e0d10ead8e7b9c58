import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DocumentNode } from '@ecf/domain';
import { checkJson, parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { testKey } from '@ecf/test-support';
import { HOSTILE } from '@ecf/test-support/hostile-inputs';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { describe, expect, it } from '@jest/globals';
import { type Client, newAccount, testCertificate, uploadCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { ecf } from '../support/deployment/ecf-command.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ STRICT_CERTIFICATION: 'true' });
const SET = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../shared/certification');
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const ROUTE = '/fe/aprobacioncomercial/api/ecf';

interface Decision {
  approval_status: 1 | 2;
  rejection_code?: number;
}

/** An accepted e-CF of the demo issuer that the demo buyer has received. */
async function delivered(): Promise<{ encf: string; total: string; date: string; id: number }> {
  const { demo, running } = deployment;
  const { buyer_rnc } = running.demo;
  const { invoice, encf } = numbers.next();
  const { body } = await demo.submit(invoice);
  expect(body.status).toBe('Aceptado');
  const find = () => demo.call('GET', `/fe/recepcion/api/invoices/${encf}`, { headers: { 'buyer-rnc': buyer_rnc } });
  // The delivery may not have arrived yet. If it has, the buyer answers this copy as a repeat.
  await fetch(`${running.demo.base_url}/fe/recepcion/api/ecf`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml' },
    body: body.xml,
  });
  const found = await until(find, ({ status }) => status === 200);
  const { id, total_amount, date_issued } = found.body;
  return { encf, id, total: total_amount.toFixed(2), date: date_issued.slice(0, 10) };
}

const issued = async (encf: string) => {
  const headers = { 'rnc-issuing': deployment.running.demo.issuer_rnc };
  return (await deployment.demo.call('GET', `/invoices/${encf}`, { headers })).body;
};
const reaches = (encf: string, status: string) =>
  until(
    () => issued(encf),
    (seen) => seen.delivery_status === status,
  );

function give(client: Client, document: Awaited<ReturnType<typeof delivered>>, decision: Decision, query = '') {
  const { issuer_rnc, buyer_rnc } = deployment.running.demo;
  return client.call('POST', `/acecf/${query}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ecf_document_id: document.id,
      issuer_rnc,
      receiver_rnc: buyer_rnc,
      encf: document.encf,
      approval_datetime: '2026-06-23T17:45:47-04:00',
      authority_environment: 'TesteCF',
      invoice_date_issued: document.date,
      invoice_total_amount: document.total,
      ...decision,
    }),
  });
}

describe('a decision', () => {
  it('needs no more than the parties, the number and the status', async () => {
    const document = await delivered();
    const { issuer_rnc, buyer_rnc } = deployment.running.demo;
    const { status, body } = await deployment.demo.call('POST', '/acecf/', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ issuer_rnc, receiver_rnc: buyer_rnc, encf: document.encf },
        ...{ authority_environment: 'TesteCF', approval_status: 1 },
      }),
    });
    expect([status, body]).toMatchObject([
      201,
      {
        ecf_document_id: document.id,
        invoice_date_issued: document.date,
        invoice_total_amount: document.total,
        authority_submission_status: 'Aceptado',
        issuer_delivery_status: 'delivered',
      },
    ]);
  });

  it('is stored without being sent, then sent', async () => {
    const document = await delivered();
    const local = await give(deployment.demo, document, { approval_status: 1 }, '?submit_to_authority=false');
    expect(local.body).toMatchObject({ sent_to_authority: false, sent_to_issuer: false });
    const sent = await give(deployment.demo, document, { approval_status: 1 });
    expect(sent.body).toMatchObject({
      id: local.body.id,
      xml_checksum: local.body.xml_checksum,
      authority_submission_status: 'Aceptado',
      issuer_delivery_status: 'delivered',
    });
  });
});

describe('ecf approvals', () => {
  it('ends an approval by hand, with a note, when the authority never answers readably', async () => {
    const document = await delivered();
    const release = await deployment.demo.fault({
      operation: 'aprobacioncomercial',
      kind: 'http',
      status: 400,
      body: '<html>ERROR</html>',
    });
    const { body } = await give(deployment.demo, document, { approval_status: 1 });
    expect(body).toMatchObject({ authority_submission_status: 'submitted', issuer_delivery_status: 'delivered' });
    const list = async (...more: string[]) =>
      (await ecf(deployment, 'approvals', 'list', '--env', 'TesteCF', ...more)).rows.find(({ id }) => id === body.id);
    expect(await list()).toMatchObject({ encf: document.encf, authority_response: expect.stringContaining('ERROR') });
    const settle = (...said: string[]) => ecf(deployment, 'approvals', 'settle', String(body.id), ...said);
    const wrong = [['--accepted'], ['--accepted', '--rejected', '--note', 'x'], ['--note', 'x']];
    expect((await Promise.all(wrong.map((said) => settle(...said)))).map(({ code }) => code)).toEqual([2, 2, 2]);
    const settled = await settle('--accepted', '--note', 'the portal shows it');
    expect(settled).toMatchObject({ code: 0, rows: [{ id: body.id, authority_submission_status: 'Aceptado' }] });
    await release();
    expect(await list()).toBeUndefined();
    expect(await list('--settled')).toMatchObject({ note: 'the portal shows it' });
    expect((await deployment.demo.call('GET', `/acecf/${body.id}`)).body.authority_submission_status).toBe('Aceptado');
    expect(await settle('--rejected', '--note', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('409'),
    });
  });
});

describe('an accepted e-CF', () => {
  it('whose buyer has no receiver waits; the operator sees it and sends it once there is one', async () => {
    const { demo, running } = deployment;
    const rnc = '144444446';
    const { invoice: content, encf } = numbers.next('ecf-31', (edited) => {
      edited.Encabezado.Comprador.RNCComprador = rnc;
    });
    expect((await demo.submit(content)).body.status).toBe('Aceptado');
    await reaches(encf, 'no_receiver');
    const list = await ecf(deployment, 'deliveries', 'list', '--status', 'no_receiver', '--buyer', rnc);
    const [row] = list.rows;
    expect(row).toMatchObject({ encf, buyer_rnc: rnc, delivery_status: 'no_receiver' });

    await newAccount(running, { rnc, name: 'Newcomer' });
    const { base_url: url } = running.demo;
    await demo.control('PUT', `/taxpayers/${rnc}`, { name: 'Newcomer', reception_url: url, authentication_url: url });
    const retry = () => ecf(deployment, 'deliveries', 'retry', running.demo.issuer_rnc, encf, '--env', 'TesteCF');
    expect((await retry()).code).toBe(0);
    await reaches(encf, 'delivered');
    expect(await retry()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not sent again'),
    });
  });

  it('whose certificate came with the request is delivered with that certificate', async () => {
    const taxpayer = { rnc: '133333337', name: 'Sin certificado' };
    const client = await newAccount(deployment.running, taxpayer, { certificate: false });
    const { invoice: content, encf } = new Numbering(taxpayer).next();
    const { body } = await client.submitWith(content, testCertificate(taxpayer.rnc));
    expect(body.status).toBe('Aceptado');
    const seen = await until(
      () => client.call('GET', `/invoices/${encf}`, { headers: { 'rnc-issuing': taxpayer.rnc } }),
      (answer) => answer.body.delivery_status === 'delivered',
    );
    expect(seen.body.approval_status).toBe('pending');
  });

  it('of a type without delivery is not delivered', async () => {
    const { demo } = deployment;
    const { invoice: content, encf } = numbers.next('ecf-43');
    expect((await demo.submit(content)).body.status).toMatch(/^Aceptado/);
    await reaches(encf, 'not_required');
  });
});

describe("the authority's own counterpart", () => {
  it('as a buyer: its approval, sent in its own form, is accepted', async () => {
    const { demo, running } = deployment;
    const { issuer_rnc, base_url, authority_url } = running.demo;
    const { invoice, encf } = numbers.next();
    expect((await demo.submit(invoice)).body.status).toBe('Aceptado');
    const answer = await fetch(`${authority_url}/testecf/emisorreceptor/api/emision/envioaprobacioncomercial`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        urlAprobacionComercial: base_url,
        urlAutenticacion: base_url,
        rnc: issuer_rnc,
        encf,
        estadoAprobacion: '2',
      }),
    });
    expect(await answer.text()).toContain('<ACECF');
    const recorded = await demo.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${issuer_rnc}`);
    expect(recorded.body).toMatchObject({
      approval_status: 'rejected',
      approval_confirmed: false,
      rejection_reason: expect.any(String),
      signer: { known: false },
    });
    // Any holder of a certificate could have signed it; the operator asks the buyer.
    const address = `/fe/aprobacioncomercial/api/invoices/${encf}`;
    const { answers } = (await demo.call('GET', `${address}/answers?issuer_rnc=${issuer_rnc}`)).body;
    expect(answers).toMatchObject([{ approval_status: 'rejected', confirmed: false, counts: true }]);
    const accounts = (await demo.admin('GET', '/accounts')).body.map(({ id }: { id: string }) => id) as string[];
    const ruling = { counts: false, reason: 'The buyer sent no rejection.' };
    const rulings = await Promise.all(
      accounts.map((id) => demo.admin('POST', `/accounts/${id}/approvals/${answers[0].id}/decide`, ruling)),
    );
    expect(rulings.map(({ status }) => status).sort()).toEqual([200, ...accounts.slice(1).map(() => 404)]);
    expect((await demo.call('GET', `${address}?issuer_rnc=${issuer_rnc}`)).body.approval_status).toBe('pending');
    const { entries } = (await demo.admin('GET', '/audit?action=approval.decide')).body;
    expect(entries).toMatchObject([
      {
        actor: 'ADMIN_TOKEN',
        action: 'approval.decide',
        target: expect.stringMatching(`^/accounts/[^/]+/approvals/${answers[0].id}$`),
        details: ruling,
        request_id: expect.any(String),
      },
    ]);
    await until(
      () => demo.call('GET', `/invoices/${encf}`, { headers: { 'rnc-issuing': issuer_rnc } }),
      ({ body }) => body.approval_status === 'pending' && body.approval_confirmed === false,
    );
  });

  it('as an issuer: our approval of its e-CF is delivered to it', async () => {
    const { demo, running } = deployment;
    const { buyer_rnc, base_url, authority_url } = running.demo;
    const response = await fetch(`${authority_url}/testecf/emisorreceptor/api/emision/emisioncomprobantes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rnc: buyer_rnc, tipoEncf: '31', urlRecepcion: base_url }),
    });
    const xml = await response.text();
    const text = (element: string) => new RegExp(`<${element}>([^<]+)`).exec(xml)?.[1] ?? '';
    const [issuer, encf] = [text('RNCEmisor'), text('eNCF')];
    await demo.control('PUT', `/taxpayers/${issuer}`, {
      name: 'Counterpart',
      approval_url: `${authority_url}/testecf/emisorreceptor`,
      reception_url: `${authority_url}/testecf/emisorreceptor`,
      authentication_url: `${authority_url}/testecf/emisorreceptor`,
    });
    const [day, month, year] = text('FechaEmision').split('-');
    const { status, body } = await demo.call('POST', '/acecf', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        issuer_rnc: issuer,
        receiver_rnc: buyer_rnc,
        encf,
        approval_status: 1,
        approval_datetime: '2026-06-23T17:45:47-04:00',
        authority_environment: 'TesteCF',
        invoice_date_issued: `${year}-${month}-${day}`,
        invoice_total_amount: text('MontoTotal'),
      }),
    });
    expect([status, body]).toMatchObject([
      201,
      { issuer_delivery_status: 'delivered', authority_submission_status: 'Aceptado', warnings: [] },
    ]);
  });
});

/** The approval's element for each element of an e-CF that the hostile inputs change, and back. */
const STANDING_FOR: readonly (readonly [RegExp, string, RegExp, string])[] = [
  [/ACECF/g, 'ECF', /(?<=<\/?)ECF/g, 'ACECF'],
  [/DetalleAprobacionComercial/g, 'DetallesItems', /DetallesItems/g, 'DetalleAprobacionComercial'],
  [/Estado/g, 'TipoPago', /TipoPago/g, 'Estado'],
  [/Version/g, 'RazonSocialEmisor', /RazonSocialEmisor/g, 'Version'],
];
const asInvoice = (xml: string) => STANDING_FOR.reduce((text, [from, to]) => text.replace(from, to), xml);
const asApproval = (xml: string) => STANDING_FOR.reduce((text, [, , from, to]) => text.replace(from, to), xml);

describe('the public route', () => {
  it.each([`${ROUTE}/`, '/FE/AprobacionComercial/api/ecf', `/testecf${ROUTE}`, `/CerteCF${ROUTE}`])(
    '%s is open',
    async (address) => {
      const answer = await fetch(`${deployment.running.demo.base_url}${address}`, { method: 'POST', body: '<ACECF/>' });
      expect([answer.status, await answer.json()]).toMatchObject([400, { codigo: '2', mensaje: [expect.any(String)] }]);
    },
  );

  it('each hostile input gets its answer and decides nothing; the genuine approval is accepted afterwards', async () => {
    const { base_url, issuer_rnc, buyer_rnc } = deployment.running.demo;
    const { encf, total, date } = await delivered();
    const detail = {
      Version: '1.0',
      RNCEmisor: issuer_rnc,
      eNCF: encf,
      FechaEmision: date.split('-').reverse().join('-'),
      MontoTotal: total,
      RNCComprador: buyer_rnc,
      Estado: '1',
      FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
    };
    const { p12, password } = testCertificate(buyer_rnc, { validFromDays: -365 });
    const { xml } = await signXml(
      writeXml({ ACECF: { DetalleAprobacionComercial: detail } }),
      openCertificate(p12, password),
    );
    const send = async (body: string | Buffer, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${base_url}${ROUTE}`, {
        method: 'POST',
        headers: { 'content-type': 'text/xml', ...headers },
        body: body as string,
      });
      return { status: answer.status, id: answer.headers.get('x-request-id'), text: await answer.text() };
    };
    const other = testCertificate(issuer_rnc, { key: testKey(2) });
    const foreign = openCertificate(other.p12, other.password).certificate;
    const wrong: unknown[] = [];
    // Inputs that may be accepted, because they state the same decision, are left out.
    const refusable = HOSTILE.filter(({ answer }) => !('motive' in answer && answer.motive.includes('')));
    for (const { name, make, headers, answer } of refusable) {
      const made = make(asInvoice(xml), foreign);
      const got = await send(typeof made === 'string' ? asApproval(made) : made, headers);
      const kind = got.status === 422 ? JSON.parse(got.text).detail[0]?.type : null;
      const as =
        'status' in answer
          ? got.status === answer.status
          : 'kind' in answer && !answer.kind.startsWith('document.')
            ? kind === answer.kind
            : got.status === 400 && JSON.parse(got.text).codigo === '2';
      if (!as || got.id === null) wrong.push({ name, answer, ...got });
    }
    expect(wrong).toEqual([]);
    expect((await issued(encf)).approval_status).toBe('pending');
    expect(await send(xml)).toMatchObject({ status: 200, text: expect.stringContaining('Aceptada') });
  });

  it('a body that is not XML gets the usual error body', async () => {
    const answer = await fetch(`${deployment.running.demo.base_url}${ROUTE}`, { method: 'POST', body: 'x' });
    expect([answer.status, await answer.json()]).toMatchObject([422, { code: 'validation_error' }]);
  });
});

(fs.existsSync(SET) ? describe : describe.skip)('the approvals of the certification set (needs ../shared)', () => {
  it('all eleven: each e-CF is received first, issuer and buyer swapped; the authority compares text by text', async () => {
    const BUYER = { rnc: '133470616', name: 'DOCUMENTOS ELECTRONICOS DE 02' };
    const client = await newAccount(deployment.running, BUYER, { certificate: false });
    // The decisions of the set are older than a new certificate.
    await uploadCertificate(client, client.accountId, BUYER.rnc, testCertificate(BUYER.rnc, { validFromDays: -4_000 }));
    const names = fs.readdirSync(path.join(SET, 'acecf')).sort();
    expect(names).toHaveLength(11);
    const wanted = names.map((name) => JSON.parse(fs.readFileSync(path.join(SET, 'acecf', name), 'utf8')));
    const put = await client.control('PUT', `/certification/${BUYER.rnc}`, wanted);
    expect(put.status).toBe(200);
    const { p12, password } = testCertificate('131880681');
    const certificate = openCertificate(p12, password);
    const results: unknown[] = [];
    for (const { ACECF } of wanted) {
      const says = ACECF.DetalleAprobacionComercial;
      const source = JSON.parse(fs.readFileSync(path.join(SET, 'ecf', `${says.eNCF}.json`), 'utf8'));
      const header = source.ECF.Encabezado;
      header.Emisor.RNCEmisor = says.RNCEmisor;
      header.Comprador.RNCComprador = says.RNCComprador;
      source.ECF.FechaHoraFirma = dominicanNow();
      const { xml } = await signXml(writeXml(checkJson(source).tree as DocumentNode), certificate);
      const receipt = await fetch(`${deployment.running.demo.base_url}/certecf/fe/recepcion/api/ecf`, {
        method: 'POST',
        headers: { 'content-type': 'text/xml' },
        body: xml,
      });
      expect(await receipt.text()).toContain('<Estado>0</Estado>');
      const made = await client.call('POST', '/acecf/', {
        headers: { 'content-type': 'application/json', env: 'CerteCF' },
        body: JSON.stringify({
          issuer_rnc: says.RNCEmisor,
          receiver_rnc: says.RNCComprador,
          encf: says.eNCF,
          approval_status: Number(says.Estado),
          approval_datetime: isoOf(says.FechaHoraAprobacionComercial),
          authority_environment: 'CerteCF',
          invoice_date_issued: says.FechaEmision.split('-').reverse().join('-'),
          invoice_total_amount: says.MontoTotal,
        }),
      });
      const { id, authority_submission_status, authority_response, warnings } = made.body;
      results.push({ encf: says.eNCF, status: made.status, authority_submission_status, warnings });
      if (authority_submission_status !== 'Aceptado') results.push(authority_response);
      const bytes = Buffer.from((await client.call('GET', `/acecf/${id}/xml`, { headers: { env: 'CerteCF' } })).text);
      expect(readXml(parseXml(bytes))).toEqual({ ACECF });
      const shown = await until(
        () =>
          client.call('GET', `/fe/recepcion/api/invoices/${says.eNCF}`, {
            headers: { env: 'CerteCF', 'buyer-rnc': BUYER.rnc },
          }),
        ({ body }) => body.approval_status !== 'pending',
      );
      expect(shown.body.approval_status).toBe('approved');
    }
    expect(results).toEqual(
      wanted.map(({ ACECF }) => ({
        encf: ACECF.DetalleAprobacionComercial.eNCF,
        status: 201,
        authority_submission_status: 'Aceptado',
        warnings: [],
      })),
    );
  });
});

/** `DD-MM-YYYY HH:MM:SS` as ISO 8601. */
function isoOf(text: string): string {
  const [date, time] = text.split(' ') as [string, string];
  return `${date.split('-').reverse().join('-')}T${time}-04:00`;
}

function dominicanNow(): string {
  const iso = new Date(Date.now() - 4 * 3_600_000).toISOString();
  return `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`;
}

it("a stranger's rejection of our invoice does not stand against the answer of its buyer", async () => {
  const { demo, running } = deployment;
  const { issuer_rnc, buyer_rnc, base_url } = running.demo;
  const document = await delivered();
  // The buyer's receiver signed the acknowledgement with the key of its approvals.
  await reaches(document.encf, 'delivered');
  const detail = {
    Version: '1.0',
    RNCEmisor: issuer_rnc,
    eNCF: document.encf,
    FechaEmision: document.date.split('-').reverse().join('-'),
    MontoTotal: document.total,
    RNCComprador: buyer_rnc,
    Estado: '2',
    DetalleMotivoRechazo: 'Nunca recibido',
    FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
  };
  const own = testCertificate(buyer_rnc, { holderId: '00200000008', key: testKey(3) });
  const { xml } = await signXml(
    writeXml({ ACECF: { DetalleAprobacionComercial: detail } }),
    openCertificate(own.p12, own.password),
  );
  const headers = { 'content-type': 'text/xml' };
  expect((await fetch(`${base_url}${ROUTE}`, { method: 'POST', headers, body: xml })).status).toBe(200);
  const shows = (approval_status: string, approval_confirmed: boolean) =>
    until(
      () => issued(document.encf),
      (seen) => seen.approval_status === approval_status && seen.approval_confirmed === approval_confirmed,
    );
  await shows('rejected', false);
  const { body } = await give(demo, document, { approval_status: 1 });
  await until(
    () => demo.call('GET', `/acecf/${body.id}`),
    (seen) => seen.body.issuer_delivery_status === 'delivered',
  );
  await shows('approved', true);
  const address = `/fe/aprobacioncomercial/api/invoices/${document.encf}/answers?issuer_rnc=${issuer_rnc}`;
  expect((await demo.call('GET', address)).body).toMatchObject({
    count: 2,
    answers: [
      { approval_status: 'rejected', signer: { known: false }, confirmed: false, counts: false },
      { approval_status: 'approved', signer: { known: true }, confirmed: true, counts: true },
    ],
  });
  const { body: arecf } = await demo.call('GET', `/received-arecf/${document.encf}?issuer_rnc=${issuer_rnc}`);
  expect(arecf).toMatchObject({
    receiver: expect.stringMatching(/^http/),
    signer: { fingerprint: expect.any(String) },
  });
});
