import type { AuthorityMessageEntry, AuthorityService } from './message-entry.js';

/** Texts that come without a code, by service. They are the authority's own, its slips included. */
export const SERVICE_MESSAGES: readonly AuthorityMessageEntry[] = [
  entry('autenticacion', 'Firma del certificado invalida', 'the signature of the seed does not verify', 'observed'),
  entry(
    'autenticacion',
    'El RNC {x} del certificado no está delegado para realizar transaciones.',
    'the certificate holder is not a delegate of that RNC',
    'observed',
  ),
  entry(
    'autenticacion',
    'One or more errors occurred. (A connection attempt failed because the connected party did not properly respond after a period of time',
    "the authority could not reach the certificate's authority: try again later",
    'observed',
    true,
  ),
  entry(
    'consultaestado',
    'Para consultar el estado de esta factura, es necesario completar el campo Cod_Seguridad.',
    'the security code is needed to ask for this document',
    'observed',
  ),
  entry('consultatrackids', 'TrackId no encontrado.', 'the authority knows no submission of this number', 'observed'),
  entry(
    'aprobacioncomercial',
    'El contribuyente de rnc {rnc} no se encuentra en la etapa de prueba de datos de aprobación comercial',
    'certification: the portal is not at the step of commercial approvals',
    'observed',
  ),
  entry(
    'aprobacioncomercial',
    'ya habia sido cargada y aceptada previamente',
    'the approval had been taken before: a success',
    'observed',
  ),
  entry('consultatrackids', 'El campo RNC Emisor es requerido.', 'the issuer RNC is missing', 'official'),
  entry('consultatrackids', 'El campo ENCF es requerido.', 'the eNCF is missing', 'official'),
  entry(
    'consultatrackids',
    'La longitud del RNC Emisor es inválida.',
    'the issuer RNC has the wrong length',
    'official',
  ),
  entry('consultatrackids', 'La longitud del ENCF es inválida.', 'the eNCF has the wrong length', 'official'),
  entry('consultatrackids', 'El ENCF es inválido.', 'the eNCF is not valid', 'official'),
  entry(
    'consultatrackids',
    'El RNC del token no está autorizado a consultar el trackid de este e-NCF, favor verificar que se encuentre delegado por el emisor y volver a intentarlo.',
    'the token is not of a delegate of the issuer',
    'official',
  ),
  entry('aprobacioncomercial', 'Archivo no válido', 'the file is not valid', 'official'),
  entry('aprobacioncomercial', 'Tipo de archivo no válido, favor proveer un XML', 'the file is not XML', 'official'),
  entry(
    'aprobacioncomercial',
    'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente',
    'the XML does not fit its schema',
    'official',
  ),
  entry('aprobacioncomercial', 'La firma del XML no es válida', 'the signature does not verify', 'official'),
  entry(
    'aprobacioncomercial',
    'El RNC del certificado no está delegado para realizar transacciones para el RNC: {rncEmisor}',
    'the certificate holder is not a delegate of the issuer',
    'official',
  ),
  entry(
    'aprobacioncomercial',
    'Factura no encontrada para esta Aprobación comercial.',
    'the approved document is unknown',
    'official',
  ),
  entry(
    'aprobacioncomercial',
    'Aprobación Comercial no es requerida para este tipo de e-CF',
    'documents of this type are not approved',
    'official',
  ),
  entry(
    'aprobacioncomercial',
    'Aprobación Comercial no es requerida para el e-CF Referenciado',
    'the referenced document is not approved commercially',
    'official',
  ),
  entry(
    'aprobacioncomercial',
    'No se encuentra un e-CF válido para esta aprobación comercial',
    'there is no accepted document to approve',
    'official',
  ),
  entry(
    'aprobacioncomercial',
    'No fue posible procesar la Aprobación comercial. Favor intentar nuevamente',
    'the authority failed; send the same bytes again',
    'official',
    true,
  ),
  entry('anulacionrangos', 'Tipo de archivo no valido, favor proveer un XML', 'the file is not XML', 'official'),
  entry('anulacionrangos', 'La firma del documento no es válida', 'the signature does not verify', 'official'),
  entry('anulacionrangos', 'El tipo de comprobante no es válido', 'the type of document is not valid', 'official'),
  entry(
    'anulacionrangos',
    'El valor del campoSecuenciaeNCFDesde es mayor al del campo SecuenciaeNCFHasta',
    'a range begins after its end',
    'official',
  ),
  entry(
    'anulacionrangos',
    'Las secuencias que está intentando anular han sido utilizadas',
    'the numbers have been used',
    'official',
  ),
  entry('anulacionrangos', 'Las secuencias fueron anuladas correctamente', 'cancelled', 'official'),
  entry(
    'anulacionrangos',
    'Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle',
    'cancelled, except the numbers that are listed',
    'official',
  ),
  entry(
    'anulacionrangos',
    'El campo NoLinea no es válido, no cumple orden secuencial.',
    'the lines are not numbered from 1',
    'official',
  ),
  entry(
    'anulacionrangos',
    'No fue posible anular las siguientes secuencias',
    'none of the listed numbers could be cancelled',
    'official',
  ),
  entry(
    'anulacionrangos',
    'El RNC del certificado no está delegado para realizar transacciones para el RNC',
    'the certificate holder is not a delegate of the issuer',
    'official',
  ),
  entry('consultatimbre', 'No fue encontrada la factura (e-CF)', 'the document is unknown', 'official'),
  entry('consultatimbre', 'Aceptado', 'accepted, also conditionally', 'official'),
  entry('consultatimbre', 'Rechazado', 'rejected', 'official'),
];

function entry(
  service: AuthorityService,
  text: string,
  meaning: string,
  source: AuthorityMessageEntry['source'],
  transient = false,
): AuthorityMessageEntry {
  return { code: null, text, services: [service], status: null, sequenceUsed: null, transient, meaning, source };
}
