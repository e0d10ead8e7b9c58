import { DOCUMENT_EXAMPLES } from '@ecf/ecf-xml/document-schemas';
import { z } from 'zod';
import type { ErrorCode } from '../error-codes.js';
import type { ErrorDetail, ValidationItem } from './error-body.js';

/** Example values of the documents, all of the made-up taxpayers of the sandbox. A test holds each against its schema. */
export const ISSUER = '199999991';
export const BUYER = '188888885';
const AT = '2026-06-15T10:00:05-04:00';
export const TRACK_ID = 'd2b6e27c-3908-46f3-afaa-2207b9501b4b';
const SHA256 = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
export const REQUEST_ID = 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3';

/** An e-CF that the sandbox accepts. */
export const INVOICE = DOCUMENT_EXAMPLES['31'];

export const ECF_XML =
  '<?xml version="1.0" encoding="utf-8"?><ECF><Encabezado>...</Encabezado><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">...</Signature></ECF>';
export const ARECF_XML =
  '<?xml version="1.0" encoding="utf-8"?><ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>199999991</RNCEmisor><RNCComprador>188888885</RNCComprador><eNCF>E310000000101</eNCF><Estado>0</Estado><FechaHoraAcuseRecibo>15-06-2026 10:00:05</FechaHoraAcuseRecibo></DetalleAcusedeRecibo><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">...</Signature></ARECF>';
export const SEED_XML =
  '<?xml version="1.0" encoding="utf-8"?><SemillaModel><valor>...</valor><fecha>2026-06-15T10:00:05.000-04:00</fecha></SemillaModel>';
export const ANECF_XML = '<?xml version="1.0" encoding="utf-8"?><ANECF>...</ANECF>';
export const ACECF_XML = '<?xml version="1.0" encoding="utf-8"?><ACECF>...</ACECF>';

/** The example of a field by its name. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  id: '2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e',
  name: 'Comercial Palma Ficticia, SRL',
  status: 'Aceptado',
  code: '1',
  next: null,
  next_cursor: null,
  xml: ECF_XML,
  qr_url:
    'https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=199999991&RncComprador=188888885&ENCF=E310000000101&FechaEmision=15-06-2026&MontoTotal=550.00&FechaFirma=15-06-2026%2010:00:00&CodigoSeguridad=Ab1%2Bcd',
  security_code: 'Ab1+cd',
  signature_datetime: '2026-06-15 10:00:00',
  trackId: TRACK_ID,
  track_id: TRACK_ID,
  total_itbis: '0.00',
  buyer_rnc: '188888885',
  receiver_rnc: '188888885',
  'buyer-rnc': '188888885',
  rnc_buyer: '188888885',
  buyer_name: 'Taller Caoba Imaginario, SRL',
  provider_name: 'Comercial Palma Ficticia, SRL',
  modified_encf: null,
  reference: 'order-4711',
  'x-reference': 'order-4711',
  delivery_status: 'delivered',
  approval_confirmed: false,
  superseded: false,
  xml_storage_path: 'TesteCF/ecf/199999991/issued/2026/06/199999991E310000000101-b94d27b9934d.xml',
  xml_checksum: SHA256,
  fingerprint: SHA256,
  sha256: SHA256,
  submitted_by: '7f1e2d3c-4b5a-4968-8776-655443322110',
  created_by: '7f1e2d3c-4b5a-4968-8776-655443322110',
  request_id: REQUEST_ID,
  messages: [],
  warnings: [],
  conflicts: [],
  conflicts_unkept: [],
  conflicts_total: 0,
  version: '1.0',
  xml_schema_version: '1.0',
  authority_status: 'confirmed',
  end_date: '30-06-2026',
  offset: 0,
  limit: 200,
  month: '2026-06',
  refuse_warnings: false,
  not_after: '2027-06-15T10:00:05-04:00',
  expires: '2028-12-31',
  expires_at: '2027-06-30T00:00:00-04:00',
  deadline: null,
  token: 'eyJhbGciOi...',
  expires_in: 3600,
  rejection_code: null,
  rejection_reason: null,
  rejection_description: null,
  cancellation_reason: null,
  issuer_delivery_status: 'delivered',
  issuer_delivery_error: null,
  authority_submission_status: 'Aceptado',
  authority_response: '{"codigo":"1"}',
  revoked_at: null,
  failing_since: null,
  last_error: null,
  due_at: null,
  settled_at: null,
  failure: null,
  finished_at: null,
  validation_error: null,
  pending: 0,
  dropped: 0,
  alarm: 'no-query',
  batch_id: '1',
  validate: false,
  conditional: 0,
  rejected: 0,
  in_process: 0,
  refused: 0,
  encf: 'E310000000101',
  encf_desde: 'E310000000201',
  encf_hasta: 'E310000000210',
  total_encf_canceled: 10,
  quantity_canceled: 10,
  account_id: '2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e',
  state: 'unknown',
  operation: 'submitDocument',
  outcome: 'verdict',
  http_status: 200,
  content_type: 'application/json',
  body: `{"trackId":"${TRACK_ID}"}`,
  numbers: 'E310000000201 to E310000000210',
  path: 'TesteCF/ecf/199999991/issued/2026/06/199999991E310000000101-b94d27b9934d.xml',
  reception_url: 'https://ecf.caoba-imaginario.example/fe/recepcion/api/ecf',
  approval_url: 'https://ecf.caoba-imaginario.example/fe/aprobacioncomercial/api/ecf',
  authentication_url: null,
  environments: ['TesteCF', 'CerteCF'],
  scopes: ['submit', 'read'],
  url: 'https://erp.example.do/events',
  types: ['invoice.accepted', 'invoice.rejected'],
  secret: 'whsec_...',
  key: 'ecf_test_...',
  hint: 'ecf_test_Ab',
  from: 'E310000000001',
  to: 'E310000001000',
  remaining: 959,
  note: 'The portal shows it.',
  reason: 'The buyer says that it sent no rejection.',
  target: '/accounts/2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e',
  action: 'api_key.create',
  actor: 'Ana',
  subject: 'C=DO, serialNumber=IDCDO-00100000009, CN=Representante de Comercial Palma',
  issuer: 'C=DO, CN=Autoridad de ejemplo',
  serial_number: '4AD85B78BB78229581B7B5CDD8A4F424',
  key_id: '5f0c2a91',
  key_ids: ['5f0c2a91'],
  created_at: AT,
  last_used_at: AT,
  not_before: AT,
  certificate_not_after: '2027-06-15T10:00:05-04:00',
  details: { name: 'erp' },
};

/** Texts in the forms that fields have. A field that has no other example gets the first one that its schema accepts. */
const TEXTS = ['...', ISSUER, 'E310000000101', AT, '2026-06-15', '550.00', '01-06-2026', SHA256, '1'];

/**
 * The example of a schema: the one in its metadata, else that of its name, else one that is made of its parts. Optional properties
 * without an example in their metadata are left out.
 */
export function exampleOf(schema: z.ZodType, name = ''): unknown {
  const [given] = (schema.meta()?.examples ?? []) as unknown[];
  if (given !== undefined) return given;
  if (Object.hasOwn(BY_NAME, name) && schema.safeParse(BY_NAME[name]).success) return BY_NAME[name];
  if (schema instanceof z.ZodObject) {
    const properties = Object.entries<z.ZodType>(schema.shape).filter(
      ([, property]) => !(property instanceof z.ZodOptional) || property.meta()?.examples !== undefined,
    );
    return Object.fromEntries(properties.map(([key, property]) => [key, exampleOf(property, key)]));
  }
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element as z.ZodType, name)];
  if (schema instanceof z.ZodUnion) return exampleOf(schema.options[0] as z.ZodType, name);
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return exampleOf(schema.unwrap() as z.ZodType, name);
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodFile) return '...';
  if (schema instanceof z.ZodNumber) return Math.max(schema.minValue ?? 1, 1);
  return TEXTS.find((text) => schema.safeParse(text).success);
}

/** The places that a 422 of a code names, where they are always the same. */
const PLACES: Partial<Record<ErrorCode, ValidationItem>> = {
  idempotency_key_required: {
    loc: ['header', 'idempotency-key'],
    msg: 'the document has no eNCF, so this header is required',
    type: 'missing',
  },
  unknown_event: {
    loc: ['query', 'after'],
    msg: 'after is not the id of an event, nor a next of an earlier response',
    type: 'unknown_event',
  },
  environment_not_served: {
    loc: ['header', 'env'],
    msg: 'this deployment uses a simulator of the authority and does not serve eCF; use TesteCF or CerteCF',
    type: 'environment',
  },
  service_not_in_environment: {
    loc: ['header', 'env'],
    msg: 'the authority does not have this service in CerteCF; use TesteCF or eCF',
    type: 'service_not_in_environment',
  },
};

/** An example of what is wrong with a request: items for a 422, else undefined. */
export function errorDetail(code: ErrorCode, status: number): ErrorDetail | undefined {
  if (status !== 422) return undefined;
  return [PLACES[code] ?? { loc: ['header', 'rnc-issuing'], msg: 'an RNC has 9 or 11 digits', type: 'rnc' }];
}
