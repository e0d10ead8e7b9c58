import { ENVIRONMENTS } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import {
  AUTHORITY_SERVICES,
  authorityEndpoints,
  OFFICIAL_ENDPOINTS,
  serviceAddress,
  serviceExists,
} from '../src/index.js';

describe('addresses', () => {
  it.each([
    ['autenticacion', 'TesteCF', 'https://ecf.dgii.gov.do/testecf/autenticacion/x'],
    ['recepcion', 'CerteCF', 'https://ecf.dgii.gov.do/certecf/recepcion/x'],
    ['recepcionfc', 'CerteCF', 'https://fc.dgii.gov.do/certecf/recepcionfc/x'],
    ['consultarfce', 'eCF', 'https://fc.dgii.gov.do/ecf/consultarfce/x'],
    ['consultaresultado', 'eCF', 'https://ecf.dgii.gov.do/ecf/consultaresultado/x'],
    ['estatusservicios', 'eCF', 'https://statusecf.dgii.gov.do/api/estatusservicios/x'],
  ] as const)('%s in %s', (service, env, address) => {
    expect(serviceAddress(OFFICIAL_ENDPOINTS, service, env, 'x').href).toBe(address);
  });

  it.each(['http://127.0.0.1:9000', 'http://127.0.0.1:9000/', 'http://127.0.0.1:9000/?x=1#y'])(
    'a simulator at %s plays all hosts',
    (base) => {
      const endpoints = authorityEndpoints(base);
      const hrefs = (['recepcion', 'recepcionfc', 'estatusservicios'] as const).map(
        (service) => serviceAddress(endpoints, service, 'TesteCF', 'x').href,
      );
      expect(hrefs).toEqual([
        'http://127.0.0.1:9000/testecf/recepcion/x',
        'http://127.0.0.1:9000/testecf/recepcionfc/x',
        'http://127.0.0.1:9000/api/estatusservicios/x',
      ]);
    },
  );

  it('a simulator may live below a path', () => {
    const endpoints = authorityEndpoints('https://tools.example/authority/');
    const { href } = serviceAddress(endpoints, 'recepcion', 'eCF', 'api/x', { a: 'b c', left: undefined });
    expect(href).toBe('https://tools.example/authority/ecf/recepcion/api/x?a=b+c');
  });

  it.each([undefined, null, ''])('without a base (%j) they are official', (base) => {
    expect(authorityEndpoints(base)).toBe(OFFICIAL_ENDPOINTS);
  });

  it.each(['not an address', 'ftp://127.0.0.1'])('refuses %j', (base) => {
    expect(() => authorityEndpoints(base)).toThrow(/URL|address/);
  });
});

describe('services', () => {
  it('are all there but four, which the certification environment lacks', () => {
    const missing = ENVIRONMENTS.flatMap((env) =>
      AUTHORITY_SERVICES.filter((service) => !serviceExists(service, env)).map((service) => `${env} ${service}`),
    );
    expect(missing).toEqual([
      'CerteCF consultaestado',
      'CerteCF consultatrackids',
      'CerteCF anulacionrangos',
      'CerteCF consultadirectorio',
    ]);
  });
});
