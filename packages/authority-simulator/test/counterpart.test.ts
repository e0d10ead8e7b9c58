import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkXml, parseXml } from '@ecf/ecf-xml';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { acecf, BUYER, ecf, ISSUER } from './support/documents.js';
import { call, multipart } from './support/http.js';
import { certificate, root, sign, verifies } from './support/signing.js';

const TAXPAYER = '101672919';
const BASE = '/testecf/emisorreceptor';

interface Received {
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

/** A taxpayer's own services: they record every request and answer with `answer`. */
let taxpayer: Server;
let received: Received[] = [];
let answer: (request: Received) => { status: number; body: string } = () => ({ status: 200, body: '' });
let authority: Authority;
let url = '';

beforeAll(async () => {
  authority = await Authority.start();
  taxpayer = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const seen = { url: request.url ?? '', headers: request.headers, body };
      received.push(seen);
      const reply = answer(seen);
      response.writeHead(reply.status).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => taxpayer.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(taxpayer.address() as AddressInfo).port}/prefix/`;
});
beforeEach(() => {
  received = [];
  answer = () => ({ status: 200, body: '' });
});
afterAll(async () => {
  taxpayer.closeAllConnections();
  await new Promise((resolve) => taxpayer.close(resolve));
  await authority.stop();
});

const order = (path: string, body: unknown, type = 'application/json') =>
  call(authority.url + BASE + path, {
    headers: { 'Content-Type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const emit = (tipoEncf = '31', more = {}) =>
  order('/api/emision/emisioncomprobantes', {
    rnc: TAXPAYER,
    tipoEncf,
    urlRecepcion: url,
    urlAutenticacion: '',
    ...more,
  });
const receipt = async (encf: string) =>
  (await call(`${authority.url}${BASE}/api/emision/consultaacuserecibo?Rnc=${TAXPAYER}&Encf=${encf}`)).json();

function arecf(encf: string, state: string): string {
  const content = `<DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>131880738</RNCEmisor><RNCComprador>${TAXPAYER}</RNCComprador><eNCF>${encf}</eNCF>${state}<FechaHoraAcuseRecibo>23-06-2026 17:45:47</FechaHoraAcuseRecibo></DetalleAcusedeRecibo>`;
  return sign(root('ARECF', content), certificate());
}
const numberIn = (text: string) => /<eNCF>([^<]+)/.exec(text)?.[1] ?? '';

describe('the counterpart as provider', () => {
  it.each(['31', '33', '34', '44'])('delivers a type %s as the authority does', async (type) => {
    const reply = await emit(type);
    expect(reply.status).toBe(200);
    const [delivery] = received;
    expect(delivery?.url).toBe('/prefix/fe/Recepcion/api/ecf');
    expect(delivery?.headers.authorization).toBeUndefined();
    const encf = numberIn(reply.text);
    expect(delivery?.body).toContain(
      `\r\nContent-Disposition: form-data; name="xml"; filename="131880738${encf}.xml"\r\nContent-Type: multipart/form-data;\r\n\r\n<ECF `,
    );
    expect(delivery?.body).toContain(reply.text);
    expect(reply.text).toContain('<Version>1</Version>');
    expect(verifies(reply.text)).toBe(true);
    expect(checkXml(parseXml(Buffer.from(reply.text))).faults).toEqual([]);
    const [noted] = await authority.submissions(`?encf=${encf}`);
    expect(noted).toMatchObject({ status: 'Aceptado', effective: true });
  });

  it('refuses types that are not delivered, and incomplete requests', async () => {
    for (const type of ['32', '41', '43', '45', '46', '47', '']) expect((await emit(type)).status).toBe(400);
    expect((await emit('31', { rnc: 'x' })).status).toBe(400);
    expect((await emit('31', { urlRecepcion: 'x' })).status).toBe(400);
    expect((await order('/api/emision/emisioncomprobantes', 'nonsense')).status).toBe(400);
    expect(received).toEqual([]);
  });

  it('accepts its request as XML too', async () => {
    const model = `<?xml version="1.0"?><EmisionComprobanteModel><rnc>${TAXPAYER}</rnc><tipoEncf>E31</tipoEncf><urlRecepcion>${url}</urlRecepcion><urlAutenticacion></urlAutenticacion></EmisionComprobanteModel>`;
    expect((await order('/api/emision/emisioncomprobantes', model, 'application/xml')).status).toBe(200);
    expect(received).toHaveLength(1);
  });

  it('never uses a number twice', async () => {
    const numbers = [];
    for (let each = 0; each < 3; each++) numbers.push(numberIn((await emit()).text));
    expect(new Set(numbers).size).toBe(3);
  });

  it('reads the acknowledgement', async () => {
    const receiptFor = async (reply: (encf: string) => { status: number; body: string }) => {
      answer = ({ body }) => reply(numberIn(body));
      return receipt(numberIn((await emit()).text));
    };
    const ok = await receiptFor((encf) => ({ status: 200, body: arecf(encf, '<Estado>0</Estado>') }));
    expect(ok).toEqual({ rnc: TAXPAYER, encf: expect.any(String), estado: 'e-CF Recibido', mensajes: [] });
    const motive = '<Estado>1</Estado><CodigoMotivoNoRecibido>4</CodigoMotivoNoRecibido>';
    expect(await receiptFor((encf) => ({ status: 200, body: arecf(encf, motive) }))).toMatchObject({
      estado: 'e-CF No Recibido',
      mensajes: ['RNC Comprador no corresponde'],
    });
    const invalid = 'Acuse de recibo no válido';
    expect((await receiptFor(() => ({ status: 500, body: '' }))).estado).toBe(invalid);
    expect((await receiptFor(() => ({ status: 200, body: 'x' }))).estado).toBe(invalid);
    expect((await receiptFor(() => ({ status: 200, body: arecf('E310000000001', '<Estado>0</Estado>') }))).estado).toBe(
      invalid,
    );
    const altered = await receiptFor((encf) => ({ status: 200, body: arecf(encf, motive).replace('>4<', '>3<') }));
    expect(altered.mensajes).toEqual(['La firma del XML no es válida']);
    expect((await receipt('E310000000001')).estado).toBe('No encontrado');
  });

  it('logs in if the receiver publishes authentication', async () => {
    answer = ({ url: path }) => {
      if (path.endsWith('/Semilla')) {
        return {
          status: 200,
          body: '<?xml version="1.0"?>\n<SemillaModel>\n <valor>abc</valor>\n <fecha>2026-06-23T17:45:47-04:00</fecha>\n</SemillaModel>',
        };
      }
      return { status: 200, body: path.includes('Validacion') ? '{"token":"t-1","expira":"","expedido":""}' : '' };
    };
    await emit('31', { urlAutenticacion: url });
    expect(received.map((each) => each.url)).toEqual([
      '/prefix/fe/Autenticacion/api/Semilla',
      '/prefix/fe/Autenticacion/api/ValidacionCertificado',
      '/prefix/fe/Recepcion/api/ecf',
    ]);
    const seed = /<SemillaModel[\s\S]*<\/SemillaModel>/.exec(received[1]?.body ?? '')?.[0] ?? '';
    expect(seed).toContain('<valor>abc</valor>');
    expect(verifies(seed)).toBe(true);
    expect(received[2]?.headers.authorization).toBe('bearer t-1');
  });

  it('reports that a receiver cannot be reached', async () => {
    const reply = await emit('31', { urlRecepcion: 'http://127.0.0.1:1' });
    expect([reply.status, reply.json()]).toEqual([400, expect.stringMatching(/cannot be reached/)]);
  });
});

describe('the counterpart as receiver', () => {
  let sequence = 900;
  const deliver = (xml: string, headers = {}) => {
    const upload = multipart(xml, 'whatever.xml');
    return call(`${authority.url}${BASE}/fe/Recepci%C3%B3n/api/ecf`, {
      ...upload,
      headers: { ...upload.headers, ...headers },
    });
  };
  const invoice = (options = {}) => ecf({ encf: `E31${String(++sequence).padStart(10, '0')}`, ...options });

  it('acknowledges', async () => {
    const reply = await deliver(sign(invoice(), certificate()));
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(/<Estado>0<\/Estado><FechaHoraAcuseRecibo>23-06-2026 17:45:47</);
    expect(verifies(reply.text)).toBe(true);
  });

  it.each([
    ['1', () => sign(invoice().replace('<TipoPago>1', '<TipoPago>9'), certificate())],
    ['1', () => sign(ecf({ encf: 'E320000000901', net: 300_000 }), certificate())],
    ['2', () => sign(invoice(), certificate()).replace('PRUEBA', 'X')],
    ['4', () => sign(invoice({ buyer: TAXPAYER }), certificate())],
  ])('does not receive, for motive %s', async (motive, document) => {
    const reply = await deliver(document());
    expect([reply.status, /<Estado>1<\/Estado><CodigoMotivoNoRecibido>(\d)</.exec(reply.text)?.[1]]).toEqual([
      200,
      motive,
    ]);
  });

  it('receives once: motive 3', async () => {
    const xml = sign(invoice(), certificate());
    await deliver(xml);
    expect((await deliver(xml)).text).toContain('<CodigoMotivoNoRecibido>3<');
  });

  it('refuses unreadable bodies and malformed tokens', async () => {
    expect((await deliver('nonsense')).status).toBe(400);
    expect((await deliver(sign(invoice(), certificate()), { Authorization: 'bearer x' })).status).toBe(401);
    const good = { Authorization: `bearer ${await authority.token()}` };
    expect((await deliver(sign(invoice(), certificate()), good)).status).toBe(200);
  });

  it('gives seeds and tokens under the standard addresses', async () => {
    for (const base of [BASE, '/Testecf/autenticacion']) {
      const seed = await authority.call(`${base}/fe/Autenticacion/api/Semilla`);
      const compact = seed.text.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><');
      const bare = compact.replace(/<SemillaModel [^>]*>/, '<SemillaModel>');
      const upload = multipart(sign(bare, certificate()), 's.xml');
      const reply = await authority.call(`${base}/fe/autenticacion/api/validacioncertificado`, upload);
      expect(reply.json()).toMatchObject({ token: expect.any(String) });
    }
  });
});

describe('approvals by and to the counterpart', () => {
  const sendApproval = (encf: string, more = {}) =>
    order('/api/emision/envioaprobacioncomercial', {
      urlAprobacionComercial: url,
      urlAutenticacion: '',
      rnc: ISSUER,
      encf,
      estadoAprobacion: 1,
      ...more,
    });

  it('sends one for an e-CF that the authority accepted, as the authority does', async () => {
    await authority.check(ecf({ encf: 'E310000000801', net: 30_000 }));
    const reply = await sendApproval('E310000000801', { estadoAprobacion: 2 });
    expect(received[0]?.url).toBe('/prefix/fe/AprobacionComercial/api/ecf');
    expect(received[0]?.body).toContain(
      "\r\nContent-Disposition: form-data; name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml\r\n\r\n<ACECF ",
    );
    expect(reply.text).toContain('<MontoTotal>35400</MontoTotal>');
    expect(reply.text).toContain(`<RNCComprador>${BUYER}</RNCComprador><Estado>2</Estado><DetalleMotivoRechazo>`);
    expect(verifies(reply.text)).toBe(true);
  });

  it('refuses types without approval and documents that it does not know', async () => {
    expect((await sendApproval('E320000000001')).status).toBe(400);
    expect((await sendApproval('E310000000899')).json()).toBe('Factura no encontrada para esta Aprobación comercial.');
    expect((await sendApproval('E310000000801', { estadoAprobacion: 3 })).status).toBe(400);
    expect(received).toEqual([]);
  });

  it('accepts approvals of its own documents', async () => {
    const encf = numberIn((await emit()).text);
    const parties = { issuer: '131880738', buyer: TAXPAYER, issued: '23-06-2026', total: '35400.00' };
    const send = async (xml: string) => {
      const reply = await call(`${authority.url}${BASE}/fe/aprobacioncomercial/api/ecf`, multipart(xml, 'a.xml'));
      return [reply.status, reply.json().codigo];
    };
    expect(await send(sign(acecf(encf, parties), certificate()))).toEqual([200, 'OK']);
    expect(await send(sign(acecf(encf, { ...parties, total: '1.00' }), certificate()))).toEqual([400, 'Error']);
    expect(await send(sign(acecf('E310000000001', parties), certificate()))).toEqual([400, 'Error']);
    expect(await send('nonsense')).toEqual([400, 'Error']);
    const copy = sign(acecf(encf, parties), certificate());
    const authorityCopy = await authority.post(
      'aprobacioncomercial/api/aprobacioncomercial',
      copy,
      `${TAXPAYER}${encf}.xml`,
    );
    expect(authorityCopy.json().codigo).toBe('01');
  });
});
