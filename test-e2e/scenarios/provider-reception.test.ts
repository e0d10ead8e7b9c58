import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatSignatureDateTime } from '@ecf/domain';
import { parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { BODY_SHAPES, type BodyShape } from '@ecf/test-support/body-shapes';
import { HOSTILE } from '@ecf/test-support/hostile-inputs';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, Client, newAccount, testCertificate } from '../support/client.js';
import { DEPLOYMENT, type Standalone, startDeployment } from '../support/deployment/standalone-process.js';
import { encf as encfOf, indented, Numbering } from '../support/documents/documents.js';
import {
  PROVIDER,
  providedInvoice,
  providedXml,
  providerCertificate,
  signedSeed,
} from '../support/documents/provided-documents.js';
import { createSender } from '../support/raw-request.js';
import { until } from '../support/until.js';

const script = fileURLToPath(
  new URL('../../packages/authority-simulator/test/support/independent-client.cjs', import.meta.url),
);

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-reception-e2e-'));
fs.chmodSync(dataDir, 0o755);
// Slow bodies end soon, but not before genuine senders on a busy machine.
const BODIES = { BODY_TIMEOUT_MS: '8000' };
let running: Standalone;
let client: Client;

beforeAll(async () => {
  running = await startDeployment(dataDir, BODIES);
  client = new Client(running);
});
afterAll(async () => {
  if (running?.child.exitCode === null) await running.end('SIGTERM');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

/** Makes the authority's counterpart issue an e-CF to our taxpayer and deliver it to our public address. */
async function order(type: string, options: { rnc?: string; authenticate?: boolean; prefix?: string } = {}) {
  const { base_url, authority_url, buyer_rnc } = running.demo;
  const receiver = `${base_url}${options.prefix ?? ''}`;
  const response = await fetch(`${authority_url}/testecf/emisorreceptor/api/emision/emisioncomprobantes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      rnc: options.rnc ?? buyer_rnc,
      tipoEncf: type,
      urlRecepcion: receiver,
      ...(options.authenticate ? { urlAutenticacion: receiver } : {}),
    }),
  });
  const xml = await response.text();
  return { xml, encf: /<eNCF>([^<]+)/.exec(xml)?.[1] ?? '', provider: /<RNCEmisor>([^<]+)/.exec(xml)?.[1] ?? '' };
}

/** The counterpart's result for our acknowledgement: it checks structure, signature and parties. */
async function receipt(encf: string, rnc = running.demo.buyer_rnc): Promise<{ estado: string; mensajes: string[] }> {
  const address = `${running.demo.authority_url}/testecf/emisorreceptor/api/emision/consultaacuserecibo?Rnc=${rnc}&Encf=${encf}`;
  return (await (await fetch(address)).json()) as { estado: string; mensajes: string[] };
}

function push(xml: string, headers: Record<string, string> = {}): Promise<Answer> {
  return client.call('POST', '/fe/recepcion/api/ecf', {
    body: xml,
    headers: { 'content-type': 'text/xml', ...headers },
  });
}

/** The document signed with another holder's certificate. */
async function signedByStranger(xml: string): Promise<string> {
  const { p12, password } = testCertificate('199999991');
  const tree = readXml(parseXml(Buffer.from(xml, 'utf8')));
  return (await signXml(writeXml(tree), openCertificate(p12, password))).xml;
}

const today = () => {
  const local = new Date(Date.now() - 4 * 3_600_000).toISOString();
  return `${local.slice(8, 10)}-${local.slice(5, 7)}-${local.slice(0, 4)}`;
};

describe("the authority's counterpart pushes e-CF through the public address", () => {
  it.each([
    ['31', false, ''],
    ['33', true, ''],
    ['34', true, '/testecf'],
    ['44', false, '/TesteCF'],
  ])('type %s, authenticated first: %s, under "%s"', async (type, authenticate, prefix) => {
    const sent = await order(type, { authenticate, prefix });
    expect(await receipt(sent.encf)).toMatchObject({ estado: 'e-CF Recibido', mensajes: [] });

    const headers = { 'buyer-rnc': running.demo.buyer_rnc, 'provider-rnc': sent.provider };
    const found = await client.call('GET', `/fe/recepcion/api/invoices/${sent.encf}`, { headers });
    expect([found.status, found.body]).toMatchObject([
      200,
      { encf: sent.encf, ecf_type: type, provider_rnc: sent.provider, approval_status: 'pending' },
    ]);
    const period = { ...headers, 'start-date': today(), 'end-date': today() };
    const listed = await client.call('GET', '/fe/recepcion/api/invoices', { headers: period });
    expect(listed.body.invoices.map((one: { encf: string }) => one.encf)).toContain(sent.encf);

    const acknowledgement = await client.call('GET', `/arecf/${sent.encf}?issuer_rnc=${sent.provider}`);
    expect(acknowledgement.text).toContain('<Estado>0</Estado>');
  });

  it('a document for an unknown buyer gets motive 4, signed by the demo buyer', async () => {
    const sent = await order('31', { rnc: '155555554' });
    expect(await receipt(sent.encf, '155555554')).toEqual(
      expect.objectContaining({ estado: 'e-CF No Recibido', mensajes: ['RNC Comprador no corresponde'] }),
    );
  });

  it('the same document again is motive 3, a changed one motive 2', async () => {
    const { xml, encf } = await order('31');
    const again = await push(xml);
    expect(again.text).toContain('<CodigoMotivoNoRecibido>3</CodigoMotivoNoRecibido>');
    const changed = await push(xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>1.00'));
    expect(changed.text).toContain('<CodigoMotivoNoRecibido>2</CodigoMotivoNoRecibido>');
    expect(changed.headers.get('x-rejection-reason')).toMatch(/^2 Error de Firma Digital: /);
    const told = async () =>
      (await client.call('GET', '/events?types=received.refused&limit=1000')).body.events.filter(
        (one: { subject: { encf: string } }) => one.subject.encf === encf,
      );
    const refusals = await until(told, ({ length }) => length > 1);
    expect(refusals.map(({ data }: { data: { rejection_code: number } }) => data.rejection_code)).toEqual([3, 2]);
  });
});

it('a document that other software may refuse is received, and its JSON says so', async () => {
  const number = encfOf('31', 7_000_001);
  const text = await providedInvoice(number, running.demo.buyer_rnc);
  const written = indented(writeXml(readXml(parseXml(Buffer.from(text)))));
  const { xml } = await signXml(written, providerCertificate);
  expect((await push(xml)).text).toContain('<Estado>0</Estado>');
  const { body } = await client.call('GET', `/fe/recepcion/api/invoices/${number}`, {
    headers: { 'buyer-rnc': running.demo.buyer_rnc },
  });
  expect(body.warnings[0]).toMatchObject({ rule: 'signature.blanks', path: 'ECF', severity: 'warning' });
});

it('a stranger’s document under a used number is refused, stored and listed beside the genuine one', async () => {
  const { xml, encf, provider } = await order('31');
  const forged = await signedByStranger(xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>1.00'));
  expect((await push(forged)).text).toContain('<CodigoMotivoNoRecibido>3</CodigoMotivoNoRecibido>');
  const found = await client.call('GET', `/fe/recepcion/api/invoices/${encf}`, {
    headers: { 'buyer-rnc': running.demo.buyer_rnc },
  });
  const [conflict] = found.body.conflicts;
  expect(conflict).toMatchObject({
    signer: { subject: expect.stringContaining('Representante de 199999991'), known: false },
  });
  const address = `/${encf}/xml?issuer_rnc=${provider}`;
  expect((await client.call('GET', address)).text).toBe(xml);
  expect((await client.call('GET', `${address}&sha256=${conflict.sha256}`)).text).toBe(forged);
});

it('a forged document that came first gives its number up to the one that the authority confirms', async () => {
  const { issuer_rnc, buyer_rnc } = running.demo;
  const numbers = new Numbering({ rnc: issuer_rnc, name: 'Comercial Palma Ficticia, SRL' });
  const { invoice, encf } = numbers.next();
  const provided = await providedInvoice(encf, buyer_rnc);
  const forged = await signedByStranger(provided.replace(/<RNCEmisor>[^<]*/, `<RNCEmisor>${issuer_rnc}`));
  expect((await push(forged)).text).toContain('<Estado>0</Estado>');
  const headers = { 'buyer-rnc': buyer_rnc, 'provider-rnc': issuer_rnc };
  const find = () => client.call('GET', `/fe/recepcion/api/invoices/${encf}`, { headers });
  await until(find, ({ body }) => body.authority_status === 'unknown');

  const submitted = await client.submit(invoice);
  expect(submitted.body.status).toBe('Aceptado');
  // The gateway delivers it to the buyer, too; whichever copy comes first competes.
  expect((await push(submitted.body.xml)).text).toContain('<Estado>1</Estado>');
  const { body } = await until(find, (seen) => seen.body.authority_status === 'confirmed');
  expect(body.conflicts).toMatchObject([
    {
      sha256: createHash('sha256').update(forged).digest('hex'),
      authority_status: expect.any(String),
      signer: { known: false },
    },
  ]);
  const address = `/arecf/${encf}?issuer_rnc=${issuer_rnc}`;
  expect((await client.call('GET', address)).text).toContain('<Estado>0</Estado>');
  expect((await push(submitted.body.xml)).text).toContain('<Estado>0</Estado>');
});

it.each(['/fe/recepci%C3%B3n/api/ecf', '/FE/RECEPCI%c3%b3N/API/ECF/', '/CerteCF/fe/recepcion/api/ecf'])(
  '%s takes documents too',
  async (address) => {
    const { xml } = await order('31', { rnc: '155555554' });
    const answer = await client.call('POST', address, { body: xml, headers: { 'content-type': 'text/xml' } });
    expect(answer.text).toContain('<CodigoMotivoNoRecibido>4</CodigoMotivoNoRecibido>');
  },
);

it('a taxpayer receives right after its registration, in every environment', async () => {
  const rnc = '144444445';
  await newAccount(running, { rnc, name: 'Newcomer' });
  const { encf } = await order('31', { rnc });
  expect(await receipt(encf, rnc)).toMatchObject({ estado: 'e-CF Recibido' });
});

it('an invoice that one taxpayer of the sandbox issues is received by the other', async () => {
  const form = new FormData();
  form.set('data', fs.readFileSync(path.join(dataDir, 'my-invoice.json'), 'utf8'));
  const issued = await client.call('POST', '/fe_Submit', { body: form });
  expect(issued.body.status).toBe('Aceptado');
  const address = `/arecf/${issued.body.encf}?issuer_rnc=${running.demo.issuer_rnc}`;
  const acknowledgement = await until(
    () => client.call('GET', address),
    ({ status }) => status === 200,
  );
  expect(acknowledgement.text).toContain('<Estado>0</Estado>');
  const again = await push(issued.body.xml);
  expect(again.text).toContain('<CodigoMotivoNoRecibido>3</CodigoMotivoNoRecibido>');
  expect((await client.call('GET', address)).text).toBe(acknowledgement.text);
});

it('another account cannot see it', async () => {
  const { encf, provider } = await order('31');
  const other = await newAccount(running, { rnc: '133333336', name: 'Other' });
  const headers = { 'buyer-rnc': running.demo.buyer_rnc, 'start-date': today(), 'end-date': today() };
  expect((await other.call('GET', '/fe/recepcion/api/invoices/all', { headers })).status).toBe(404);
  expect((await other.call('GET', `/fe/recepcion/api/invoices/${encf}`, { headers })).status).toBe(404);
  expect((await other.call('GET', `/fe/recepcion/api/invoices/${encf}/document`, { headers })).status).toBe(404);
  expect((await other.call('GET', `/arecf/${encf}?issuer_rnc=${provider}`)).status).toBe(404);
});

/** Runs the library: it authenticates and delivers. Resolves with the answers that it got. */
async function deliverWithLibrary(): Promise<{ token: unknown; receipt: string }> {
  const holder = testCertificate('199999991');
  const p12 = path.join(dataDir, 'sender.p12');
  fs.writeFileSync(p12, holder.p12);
  const args = [script, running.demo.base_url, p12, holder.password, running.demo.buyer_rnc];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

const RECEIVED = { token: { token: expect.any(String) }, receipt: expect.stringContaining('<Estado>0</Estado>') };

it('a client library that was written for the authority authenticates and delivers', async () => {
  expect(await deliverWithLibrary()).toMatchObject(RECEIVED);
});

it('six hundred slow senders get 408 while genuine senders and a user are served', async () => {
  const SLOW = 600;
  let sequence = 800_000;
  const deliver = async () => {
    sequence += 1;
    const { text } = await push(await providedInvoice(encfOf('31', sequence), running.demo.buyer_rnc));
    expect(text).toContain('<Estado>0<');
  };
  const { hostname, port } = new URL(running.demo.base_url);
  const answers: string[] = [];
  const sockets = Array.from({ length: SLOW }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).once('data', (data) => answers.push(data.toString()));
    socket.write(
      'POST /fe/recepcion/api/ecf HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 100000\r\n\r\n<',
    );
    return socket;
  });
  const trickling = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('E');
  }, 1_000);
  try {
    // All slow senders are connected before the others send.
    await until(
      async () => sockets.filter((socket) => socket.bytesWritten > 100).length,
      (count) => count === SLOW,
    );
    for (let i = 0; i < 5; i += 1) await deliver();
    const headers = { 'buyer-rnc': running.demo.buyer_rnc, 'start-date': today(), 'end-date': today() };
    expect(await client.call('GET', '/fe/recepcion/api/invoices/all', { headers })).toMatchObject({ status: 200 });
    await until(
      async () => answers.length,
      (count) => count === SLOW,
      120_000,
    );
  } finally {
    clearInterval(trickling);
    for (const socket of sockets) socket.destroy();
  }
  expect(new Set(answers.map((answer) => answer.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 408']));
  await deliver();
});

/** Both deployments have the same gateway, so the distributed one runs the corpus only on request. */
const hasCorpus = DEPLOYMENT === 'standalone' || process.env.ECF_CORPUS_EVERYWHERE === 'true';

(hasCorpus ? describe : () => undefined)('hostile and unusual input at the public address', () => {
  let raw: ReturnType<typeof createSender>;
  let sequence = 0;
  const next = () => encfOf('31', ++sequence);
  const genuine = (encf = next()) => providedInvoice(encf, running.demo.buyer_rnc);

  beforeAll(() => {
    raw = createSender(running.demo.base_url);
  });
  afterAll(() => raw.close());

  /** Posts these bytes unchanged through the gateway. */
  async function post(body: string | Buffer, headers: Record<string, string>, path = '/fe/recepcion/api/ecf') {
    const bytes = Buffer.from(body as string);
    const answer = await raw.send({ method: 'POST', path, headers: Object.entries(headers), body: bytes });
    return { status: answer.status, text: answer.body.toString(), headers: answer.headers };
  }

  async function expectUndisturbed(): Promise<void> {
    expect(await post(await genuine(), { 'content-type': 'text/xml' })).toMatchObject({
      status: 200,
      text: expect.stringContaining('<Estado>0<'),
    });
  }

  async function expectReceived(shape: BodyShape, change: (xml: string) => string): Promise<void> {
    const encf = next();
    const headers = shape.type === null ? undefined : { 'content-type': shape.type };
    const answer = await post(shape.body(change(await genuine(encf))), headers ?? {});
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(`<eNCF>${encf}</eNCF><Estado>0<`)]);
  }

  it.each(BODY_SHAPES)('$name: received', (shape) => expectReceived(shape, (xml) => xml));

  it.each([
    ['a byte order mark', (xml: string) => `\ufeff${xml}`],
    ['a byte order mark and a line end', (xml: string) => `\ufeff\r\n${xml}`],
    ['no prolog', (xml: string) => xml.replace(/^<\?xml[^>]*\?>\s*/, '')],
    ['pretty-printed after signing', (xml: string) => xml.replaceAll('><', '>\n  <')],
  ])('%s: received', (_, change) => expectReceived(BODY_SHAPES[0] as BodyShape, change));

  it('each hostile input gets its answer, and other senders are served', async () => {
    // The receiver's certificate, which belongs to another key.
    const { text: receiptText } = await post(await genuine(), { 'content-type': 'text/xml' });
    const foreign = /<X509Certificate>([^<]+)/.exec(receiptText)?.[1] ?? '';
    const wrong: unknown[] = [];
    for (const [index, { name, make, headers = {}, answer }] of HOSTILE.entries()) {
      const got = await post(make(await genuine(), foreign), { 'content-type': 'text/xml', ...headers });
      const type = got.status === 422 ? JSON.parse(got.text).detail[0]?.type : null;
      const motive = /<CodigoMotivoNoRecibido>(\d)/.exec(got.text)?.[1] ?? '';
      const as =
        'kind' in answer
          ? type === answer.kind
          : 'status' in answer
            ? got.status === answer.status
            : got.status === 200 && answer.motive.includes(motive);
      if (!as || got.headers['x-request-id'] === undefined)
        wrong.push({ name, answer, status: got.status, text: got.text });
      if (index % 10 === 0) await expectUndisturbed();
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['41', 200, '1'],
    ['44', 200, ''],
    ['45', 200, ''],
    ['46', 422, ''],
    ['47', 422, ''],
    ['43', 422, ''],
  ])('type %s: %i, motive "%s"', async (type, status, motive) => {
    const xml = await providedXml(`ecf-${type}`, ({ ECF }) => {
      ECF.Encabezado.IdDoc.eNCF = encfOf(type, 1);
      ECF.Encabezado.Emisor.RNCEmisor = PROVIDER;
      if (ECF.Encabezado.Comprador?.RNCComprador) ECF.Encabezado.Comprador.RNCComprador = running.demo.buyer_rnc;
      ECF.FechaHoraFirma = formatSignatureDateTime(new Date(Date.now() - 60_000));
    });
    const answer = await post(xml, { 'content-type': 'text/xml' });
    expect([answer.status, /<CodigoMotivoNoRecibido>(\d)/.exec(answer.text)?.[1] ?? '']).toEqual([status, motive]);
  });

  it.each(['Zz10000000001', 'e310000700001'])(
    '%s is not E and 12 digits: it is received, and found by this text',
    async (number) => {
      const xml = await genuine(number);
      expect((await post(xml, { 'content-type': 'text/xml' })).text).toContain('<Estado>0<');
      const headers = { 'buyer-rnc': running.demo.buyer_rnc };
      expect(await client.call('GET', `/fe/recepcion/api/invoices/${number}`, { headers })).toMatchObject({
        status: 200,
        body: { encf: number },
      });
      expect(await client.call('GET', `/arecf/${number}?issuer_rnc=${PROVIDER}`)).toMatchObject({ status: 200 });
      expect((await client.call('GET', `/${number}/xml?issuer_rnc=${PROVIDER}`)).text).toBe(xml);
      expect(await client.call('GET', `/Zz10000000002/xml?issuer_rnc=${PROVIDER}`)).toMatchObject({ status: 422 });
    },
  );
});

describe('if senders have to authenticate', () => {
  beforeAll(async () => {
    await running.end('SIGTERM');
    running = await startDeployment(dataDir, { ...BODIES, PROVIDER_AUTH: 'required' });
    client = new Client(running);
  });

  it('a document without a token is 401, with a token it is received', async () => {
    const refused = await order('31');
    expect(await receipt(refused.encf)).toMatchObject({ mensajes: ['El receptor respondió HTTP 401'] });
    const { encf } = await order('31', { authenticate: true });
    expect(await receipt(encf)).toMatchObject({ estado: 'e-CF Recibido' });
  });

  it('an approval without a token is 401, with a token it is validated', async () => {
    const approval = await providedXml('acecf', ({ ACECF }) => {
      ACECF.DetalleAprobacionComercial.RNCEmisor = running.demo.issuer_rnc;
      ACECF.DetalleAprobacionComercial.eNCF = 'E310000099999';
    });
    const send = (authorization?: string) =>
      client.call('POST', '/fe/aprobacioncomercial/api/ecf', {
        body: approval,
        headers: { 'content-type': 'text/xml', ...(authorization === undefined ? {} : { authorization }) },
      });
    const refused = { status: 401, body: { code: 'invalid_provider_token' } };
    expect(await send()).toMatchObject(refused);
    expect(await send('Bearer eyJhbGciOiJub25lIn0.e30.')).toMatchObject(refused);
    const seed = await client.call('GET', '/fe/autenticacion/api/semilla');
    const form = new FormData();
    form.set('xml', new Blob([await signedSeed(seed.text)], { type: 'text/xml' }), 'semilla.xml');
    const { body } = await client.call('POST', '/fe/autenticacion/api/validacioncertificado', {
      body: form,
      headers: { accept: 'application/json' },
    });
    expect(await send(`Bearer ${body.token}`)).toMatchObject({ status: 400, body: { codigo: '2' } });
  });

  it('documents received before the restart are still listed', async () => {
    const headers = { 'buyer-rnc': running.demo.buyer_rnc, 'start-date': today(), 'end-date': today() };
    const { body } = await client.call('GET', '/fe/recepcion/api/invoices/count', { headers });
    expect(body.total_invoices).toBeGreaterThanOrEqual(6);
  });

  it('the library delivers with a token', async () => {
    expect(await deliverWithLibrary()).toMatchObject(RECEIVED);
  });
});
