import { expect, it } from '@jest/globals';
import { plainPublicPath } from '../src/public-path.js';

it.each([
  ['/fe/recepcion/api/ecf', '/fe/recepcion/api/ecf'],
  ['/testecf/fe/recepcion/api/ecf', '/fe/recepcion/api/ecf'],
  ['/CerteCF/fe/Recepcion/api/ecf?x=1', '/fe/recepcion/api/ecf?x=1'],
  ['/ecf/fe/recepcion/api/ecf', '/fe/recepcion/api/ecf'],
  ['/fe/recepci%C3%B3n/api/ecf', '/fe/recepcion/api/ecf'],
  ['/fe/RECEPCI%c3%b3N/api/ecf', '/fe/recepcion/api/ecf'],
  ['/fe/recepci\u00c3\u00b3n/api/ecf', '/fe/recepcion/api/ecf'],
  ['/fe/recepci\u00f3n/api/ecf', '/fe/recepcion/api/ecf'],
  ['//fe/recepcion/api/ecf', '/fe/recepcion/api/ecf'],
  ['//testecf//fe/recepci%c3%b3n/api/ecf/', '/fe/recepcion/api/ecf'],
  ['/fe/recepcion/api/invoices/E310000000001?x=/', '/fe/recepcion/api/invoices/E310000000001?x=/'],
  ['/fe/autenticacion/api/semilla', '/fe/autenticacion/api/semilla'],
  ['/ecf/E310000000001', '/ecf/E310000000001'],
  ['/arecf/E310000000001?issuer_rnc=1', '/arecf/E310000000001?issuer_rnc=1'],
])('%s is %s', (written, plain) => {
  expect(plainPublicPath(written)).toBe(plain);
});
