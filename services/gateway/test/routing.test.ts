import { OPERATIONS, type Operation } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { createRouter } from '../src/edge/routing.js';

const router = createRouter<Operation>(OPERATIONS);

function found(method: string, path: string): string {
  const routed = router.route(method, path);
  if (routed.kind !== 'operation') return routed.kind === 'none' ? 'none' : `405 ${routed.allow.join(' ')}`;
  return `${routed.operation.id} ${routed.path}${routed.prefix === null ? '' : ` in ${routed.prefix}`}`;
}

describe('the routing table', () => {
  it('finds every operation, with and without a slash at the end', () => {
    for (const { id, method, path } of OPERATIONS) {
      const address = path.replace('{encf}', 'E310000000001').replaceAll(/\{\w+\}/g, '131000001');
      expect(found(method, address)).toBe(`${id} ${address}`);
      expect(found(method, `${address}/`)).toBe(`${id} ${address}`);
      expect(found(method, `${address}//`)).toBe(`${id} ${address}`);
      if (method === 'GET') expect(found('HEAD', address)).toBe(`${id} ${address}`);
    }
  });

  it.each([
    ['GET', '/invoices/count', 'countInvoices /invoices/count'],
    ['GET', '/invoices/aggregate/', 'aggregateInvoices /invoices/aggregate'],
    ['GET', '/invoices/counter', 'findInvoice /invoices/counter'],
    ['GET', '/fe/recepcion/api/invoices/all', 'listAllReceived /fe/recepcion/api/invoices/all'],
    ['GET', '/fe/recepcion/api/invoices/count', 'countReceived /fe/recepcion/api/invoices/count'],
    ['GET', '/anecf/7/xml', 'cancellationXml /anecf/7/xml'],
    ['GET', '/anecf/xml', 'findCancellation /anecf/xml'],
    ['GET', '/trackids/E310000000001/raw', 'listRawAnswers /trackids/E310000000001/raw'],
  ])('lets literal parts win: %s %s', (method, path, expected) => expect(found(method, path)).toBe(expected));

  it.each([
    ['/invoices/e310000000001', 'findInvoice /invoices/e310000000001'],
    ['/e310000000001/xml', 'invoiceXml /e310000000001/xml'],
    ['/arecf/e310000000001/', 'acknowledgementXml /arecf/e310000000001'],
    ['/invoice-status/e310000000001x', 'invoiceStatus /invoice-status/e310000000001x'],
  ])('leaves a number as it is written, for its owner to read: %s', (path, expected) =>
    expect(found('GET', path)).toBe(expected),
  );

  const reception = 'receiveInvoice /fe/recepcion/api/ecf';
  it.each([
    ['/fe/recepcion/api/ecf', reception],
    ['/FE/Recepcion/API/ECF', reception],
    ['//fe/recepcion/api/ecf', reception],
    ['///FE//recepci%C3%B3n/api//ecf//', reception],
    ['/testecf//fe/recepcion/api/ecf', `${reception} in TesteCF`],
    ['//ecf/fe/recepcion/api/ecf', `${reception} in eCF`],
    ['/fe/recepci%C3%B3n/api/ecf', reception],
    ['/fe/recepci%c3%b3n/api/ecf/', reception],
    ['/fe/Recepci%C3%93n/api/ecf', reception],
    ['/fe/recepci%F3n/api/ecf', reception],
    ['/fe/recepcio%CC%81n/api/ecf', reception],
    [Buffer.from('/fe/recepción/api/ecf', 'utf8').toString('latin1'), reception],
    [Buffer.from('/fe/recepción/api/ecf', 'latin1').toString('latin1'), reception],
    ['/testecf/fe/recepcion/api/ecf', `${reception} in TesteCF`],
    ['/CerteCF/fe/recepci%C3%B3n/api/ecf', `${reception} in CerteCF`],
    ['/ecf/fe/recepcion/api/ecf', `${reception} in eCF`],
    ['/eCF/FE/AprobacionComercial/api/ecf', 'receiveApproval /fe/aprobacioncomercial/api/ecf in eCF'],
    ['/fe/Autenticacion/api/ValidacionCertificado', 'validateSeed /fe/autenticacion/api/validacioncertificado'],
    ['/otherecf/fe/recepcion/api/ecf', 'none'],
    ['/testecf/testecf/fe/recepcion/api/ecf', 'none'],
    ['/fe/recepcion/api/ecf/more', 'none'],
    ['/fe/%ZZ/api/ecf', 'none'],
  ])('finds the public route in every notation: %s', (path, expected) => expect(found('POST', path)).toBe(expected));

  it.each([
    ['POST', '/invoices', '405 GET'],
    ['DELETE', '/anecf', '405 POST GET'],
    ['GET', '/fe_Submit', '405 POST'],
    ['GET', '/fe/recepcion/api/ecf', '405 POST'],
    ['PUT', '/ecf/FE/autenticacion/api/semilla', '405 GET'],
    ['GET', '/', 'none'],
    ['GET', '/fe_submit', 'none'],
    ['GET', '/testecf/invoices', 'none'],
    ['GET', '//xml', 'none'],
    ['GET', '/admin/accounts', 'none'],
    ['GET', '/constructor', 'none'],
    ['GET', '/__proto__/toString', 'none'],
  ])('refuses %s %s with %s', (method, path, expected) => expect(found(method, path)).toBe(expected));
});
