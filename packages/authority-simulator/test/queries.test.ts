import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { BUYER, ecf, ISSUER, rfce } from './support/documents.js';
import { certificate, codeOf, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = (type = '31') => `E${type}${String(++sequence).padStart(10, '0')}`;

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

const state = (query: string, env?: string) => authority.get(`consultaestado/api/consultas/estado?${query}`, env);
const trackIds = (query: string) => authority.get(`consultatrackids/api/trackids/consulta?${query}`);

describe('the query for the state', () => {
  it('gives the values of the document, amounts as numbers', async () => {
    const number = encf();
    const xml = sign(ecf({ encf: number }), certificate());
    await authority.send(xml);
    const reply = await state(`rncemisor=${ISSUER}&ncfelectronico=${number.toLowerCase()}&rnccomprador=${BUYER}`);
    expect(reply.json()).toEqual({
      codigo: 1,
      estado: 'Aceptado',
      rncEmisor: ISSUER,
      ncfElectronico: number,
      montoTotal: 1180,
      totalITBIS: 180,
      fechaEmision: '10-06-2026',
      fechaFirma: '10-06-2026 09:00:00',
      rncComprador: BUYER,
      codigoSeguridad: codeOf(xml),
      idExtranjero: null,
    });
    const other = await state(`rncemisor=${ISSUER}&ncfelectronico=${number}&codigoseguridad=xxxxxx`);
    expect(other.json()).toMatchObject({ codigo: 0, estado: 'No encontrado', montoTotal: 0, fechaEmision: null });
    expect((await state(`rncemisor=${ISSUER}&ncfelectronico=${number}&rnccomprador=101672919`)).json().codigo).toBe(0);
  });

  it('requires the code of a consumer invoice, and finds those reported by summary', async () => {
    const number = encf('32');
    await authority.sendSummary(sign(rfce(number, 'a+b/c=', { total: '1200.00' }), certificate()));
    const without = await state(`rncemisor=${ISSUER}&ncfelectronico=${number}`);
    expect([without.status, without.json()]).toEqual([
      400,
      'Para consultar el estado de esta factura, es necesario completar el campo Cod_Seguridad.',
    ]);
    const reply = await state(`rncemisor=${ISSUER}&ncfelectronico=${number}&codigoseguridad=a%2Bb%2Fc%3D`);
    expect(reply.json()).toMatchObject({
      codigo: 4,
      estado: 'Aceptado Condicional',
      montoTotal: 1200,
      fechaFirma: null,
    });
  });

  it('shows a conditional acceptance as an acceptance, a rejection as such, and nothing before the decision', async () => {
    const [conditional, refused, pending] = [encf(), encf(), encf()];
    await authority.check(ecf({ encf: conditional, total: '1190.00' }));
    await authority.check(ecf({ encf: refused }).replace('<IndicadorMontoGravado>0</IndicadorMontoGravado>', ''));
    const fault = await authority.fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    await authority.check(ecf({ encf: pending }));
    const code = async (number: string) => (await state(`rncemisor=${ISSUER}&ncfelectronico=${number}`)).json().codigo;
    expect(await Promise.all([conditional, refused, pending].map(code))).toEqual([1, 2, 0]);
    await authority.control('DELETE', `faults/${fault}`);
    expect(await code(pending)).toBe(1);
  });

  it('answers delegates of issuer or buyer only', async () => {
    const number = encf();
    await authority.check(ecf({ encf: number }));
    await authority.control('PUT', `taxpayers/${ISSUER}`, { delegates: ['1'] });
    const code = async () => (await state(`rncemisor=${ISSUER}&ncfelectronico=${number}`)).json().codigo;
    expect(await code()).toBe(1);
    await authority.control('PUT', `taxpayers/${BUYER}`, { delegates: ['1'] });
    expect(await code()).toBe(0);
    await authority.control('DELETE', `taxpayers/${ISSUER}`);
    await authority.control('DELETE', `taxpayers/${BUYER}`);
  });
});

describe('the query for trackIds', () => {
  it('lists all of them with a state in words and a bare date', async () => {
    const number = encf();
    const first = await authority.send(sign(ecf({ encf: number }), certificate()));
    const second = await authority.send(sign(ecf({ encf: number }), certificate()));
    await authority.fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const third = await authority.send(sign(ecf({ encf: number }), certificate()));
    expect((await trackIds(`RncEmisor=${ISSUER}&ENCF=${number}`)).json()).toEqual([
      { trackId: first, estado: 'Aceptado', fechaRecepcion: '23/06/2026' },
      { trackId: second, estado: 'Rechazado', fechaRecepcion: '23/06/2026' },
      { trackId: third, estado: 'En proceso', fechaRecepcion: '23/06/2026' },
    ]);
    await authority.control('DELETE', 'faults');
  });

  it('answers one object when there is none', async () => {
    const answer = (await trackIds(`rncemisor=${ISSUER}&encf=${encf()}`)).json();
    expect(answer).toEqual({ trackId: null, estado: 'TrackId no encontrado.', fechaRecepcion: null });
  });

  it.each([
    ['encf=E310000000001', 'El campo RNC Emisor es requerido.'],
    [`rncemisor=${ISSUER}`, 'El campo ENCF es requerido.'],
    ['rncemisor=1&encf=E310000000001', 'La longitud del RNC Emisor es inválida.'],
    [`rncemisor=${ISSUER}&encf=E31`, 'La longitud del ENCF es inválida.'],
    [`rncemisor=${ISSUER}&encf=X310000000001`, 'El ENCF es inválido.'],
  ])('refuses %s', async (query, sentence) => {
    const reply = await trackIds(query);
    expect([reply.status, reply.json()]).toEqual([400, sentence]);
  });

  it('answers delegates of the issuer only', async () => {
    await authority.control('PUT', `taxpayers/${ISSUER}`, { delegates: ['1'] });
    const reply = await trackIds(`rncemisor=${ISSUER}&encf=E310000000001`);
    expect([reply.status, reply.json()]).toEqual([400, expect.stringMatching(/^El RNC del token no está autorizado/)]);
    await authority.control('DELETE', `taxpayers/${ISSUER}`);
  });
});

describe('services and environments', () => {
  it('has in certification only the services that the authority has there', async () => {
    const paths = [
      'consultaestado/api/consultas/estado',
      'consultatrackids/api/trackids/consulta',
      'consultadirectorio/api/consultas/listado',
      'emisorreceptor/fe/autenticacion/api/semilla',
    ];
    for (const path of paths) {
      expect((await authority.get(path, 'certecf')).status).toBe(404);
      expect((await authority.get(path, 'testecf')).status).not.toBe(404);
    }
    expect(
      (await authority.post('anulacionrangos/api/operaciones/anularrango', '<a></a>', 'a.xml', 'certecf')).status,
    ).toBe(404);
    expect((await authority.get('emisorreceptor/fe/autenticacion/api/semilla', 'ecf')).status).toBe(404);
  });

  it('answers 404 to unknown addresses and 405 to the wrong method', async () => {
    const status = async (path: string) => (await authority.call(path)).status;
    expect(await status('/testecf/recepcion/api/otra')).toBe(404);
    expect(await status('/otherecf/autenticacion/api/autenticacion/semilla')).toBe(404);
    expect(await status('/autenticacion/api/autenticacion/semilla')).toBe(404);
    expect(await status('/testecf/api/estatusservicios/obtenerestatus')).toBe(404);
    expect(await status('/testecf')).toBe(404);
    expect(await status('/%E0%A4%A')).toBe(404);
    expect(await status('/testecf/recepcion/api/facturaselectronicas')).toBe(405);
    expect(await status('/')).toBe(200);
  });
});

describe('the directory', () => {
  const list = async (env: string) => (await authority.get('consultadirectorio/api/Consultas/Listado', env)).json();

  it('has the counterpart in the sandbox, and registered receivers in both environments', async () => {
    expect(await list('testecf')).toEqual([
      {
        nombre: 'DGII',
        rnc: '131880681',
        urlRecepcion: `${authority.url}/testecf/emisorreceptor`,
        urlAceptacion: `${authority.url}/testecf/emisorreceptor`,
        urlOpcional: `${authority.url}/Testecf/autenticacion`,
      },
    ]);
    expect(await list('ecf')).toEqual([]);
    const entry = { name: 'UNO', reception_url: 'https://uno.example', approval_url: 'https://dos.example/x' };
    await authority.control('PUT', 'taxpayers/101672919', entry);
    await authority.control('PUT', 'taxpayers/101672920', { name: 'SIN DIRECCION' });
    await authority.control('PUT', 'taxpayers/101672921', { ...entry, active: false });
    const listing = {
      nombre: 'UNO',
      rnc: '101672919',
      urlRecepcion: 'https://uno.example',
      urlAceptacion: 'https://dos.example/x',
      urlOpcional: null,
    };
    expect(await list('ecf')).toEqual([listing]);
    expect(await list('testecf')).toHaveLength(2);
    const find = async (rnc: string) =>
      (await authority.get(`consultadirectorio/api/consultas/obtenerdirectorioporrnc?RNC=${rnc}`, 'ecf')).json();
    expect(await find('101672919')).toEqual([listing]);
    expect(await find('101672920')).toEqual([]);
  });

  it('is for those with a token', async () => {
    expect((await authority.call('/testecf/consultadirectorio/api/consultas/listado')).status).toBe(401);
  });
});

describe('the status service', () => {
  it('needs its own key', async () => {
    const keyed = await Authority.start({ statusKey: 'ABC-1' });
    try {
      const query = (authorization?: string) =>
        keyed.call('/api/EstatusServicios/ObtenerEstatus', {
          headers: authorization ? { Authorization: authorization } : {},
        });
      expect((await query()).status).toBe(401);
      expect((await query('Apikey other')).status).toBe(401);
      expect((await query('Bearer ABC-1')).status).toBe(401);
      expect((await query('apikey ABC-1')).status).toBe(200);
    } finally {
      await keyed.stop();
    }
  });

  it('lists services, and marks the ones that are down', async () => {
    const headers = { Authorization: 'Apikey X' };
    await authority.fault({ operation: 'recepcion', kind: 'down' });
    const services = (await authority.call('/api/estatusservicios/obtenerestatus', { headers })).json();
    expect(services).toHaveLength(18);
    expect(services).toContainEqual({ servicio: 'Recepción', estatus: 'No Disponible', ambiente: 'Produccion' });
    expect(services).toContainEqual({ servicio: 'Autenticación', estatus: 'Disponible', ambiente: 'PreCertificacion' });
    await authority.control('DELETE', 'faults');
  });

  it('announces maintenance windows and the state of an environment', async () => {
    const headers = { Authorization: 'Apikey X' };
    const get = async (path: string) => (await authority.call(`/api/estatusservicios/${path}`, { headers })).json();
    expect((await get('obtenerventanasmantenimiento')).ventanaMantenimientos[0]).toEqual({
      ambiente: 'PreCertificacion',
      horaInicio: '9:00 AM',
      horaFin: '12:00 PM',
      dias: ['05-07-2026'],
    });
    expect(await get('verificarestado?ambiente=3')).toEqual({ estado: 'Disponible' });
    expect(await get('verificarestado?ambiente=4')).toBe('El campo ambiente no es válido.');
  });

  it('announces the maintenance that a test wants, a row for each Dominican day', async () => {
    const headers = { Authorization: 'Apikey X' };
    const get = async (path: string) => (await authority.call(`/api/estatusservicios/${path}`, { headers })).json();
    const from = new Date(Math.floor(authority.now.getTime() / 60_000) * 60_000);
    const until = new Date(from.getTime() + 24 * 3_600_000);
    const window = { environment: 'CerteCF', start_time: from.toISOString(), end_time: until.toISOString() };
    expect((await authority.control('PUT', 'maintenance', [window])).status).toBe(204);
    const { ventanaMantenimientos: rows } = await get('obtenerventanasmantenimiento');
    expect(rows.map(({ ambiente }: { ambiente: string }) => ambiente)).toEqual(['Certificacion', 'Certificacion']);
    expect([rows[0].horaFin, rows[1].horaInicio]).toEqual(['12:00 AM', '12:00 AM']);
    expect(rows[1].horaFin).toBe(rows[0].horaInicio);
    expect(await get('verificarestado?ambiente=3')).toEqual({ estado: 'No Disponible' });
    expect(await get('verificarestado?ambiente=1')).toEqual({ estado: 'Disponible' });
    for (const bad of [{}, [{}], [{ ...window, end_time: window.start_time }], [{ ...window, dias: [] }]]) {
      expect((await authority.control('PUT', 'maintenance', bad)).status).toBe(400);
    }
    await authority.control('PUT', 'maintenance', []);
    expect((await get('obtenerventanasmantenimiento')).ventanaMantenimientos).toEqual([]);
  });
});

describe('the pages behind the QR codes', () => {
  it('show a document whose every parameter fits', async () => {
    const number = encf();
    const xml = sign(ecf({ encf: number }), certificate());
    await authority.send(xml);
    const address = (code: string, date = '10-06-2026%2009:00:00') =>
      `/testecf/ConsultaTimbre?RncEmisor=${ISSUER}&RncComprador=${BUYER}&ENCF=${number}&FechaEmision=10-06-2026&MontoTotal=1180.00&FechaFirma=${date}&CodigoSeguridad=${encodeURIComponent(code)}`;
    const page = await authority.call(address(codeOf(xml)));
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Estado: Aceptado');
    expect(page.text).toContain('COMPRADOR DE PRUEBA');
    const none = 'No fue encontrada la factura (e-CF)';
    expect((await authority.call(address('xxxxxx'))).text).toContain(none);
    expect((await authority.call(address(codeOf(xml), '10-06-2026%2009:00:01'))).text).toContain(none);
  });

  it('show a consumer invoice by four parameters', async () => {
    const number = encf('32');
    await authority.sendSummary(sign(rfce(number, 'a+/b12'), certificate()), 'certecf');
    const address = (total: string) =>
      `/certecf/consultatimbrefc?rncemisor=${ISSUER}&encf=${number}&montototal=${total}&codigoseguridad=a%2B%2Fb12`;
    expect((await authority.call(address('1180.00'))).text).toContain('Estado: Aceptado');
    expect((await authority.call(address('1180.01'))).text).toContain('No fue encontrada');
  });
});
