import { z } from 'zod';
import { ecfTypeSchema, encfSchema, environmentSchema, rncSchema, trackIdSchema } from '../environment.js';
import { invoiceStatusSchema } from '../events/invoice.js';
import {
  DEFAULT_EVENT_PAGE,
  EVENT_ID,
  EVENT_TYPES,
  MAX_EVENT_PAGE,
  MAX_EVENT_WAIT_SECONDS,
} from '../events/public-event.js';
import { approvalStatusSchema, authorityStatusSchema } from '../events/received-invoice.js';
import { LINE_STATUSES } from '../http/batch.js';
import { ARCHIVING_SERVICES, storedFilesQuerySchema } from '../http/internal/archive.js';
import { deliveryStatusSchema } from '../http/invoice.js';
import { LISTING_SORTS } from '../listing.js';
import type { ParameterDescription } from './description.js';

const anyCaseEncf = z.string().regex(/^[Ee]\d{12}$/);
const idOfOurs = z.string().regex(/^[\w-]{1,64}$/);
const day = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);
const amount = z.string().regex(/^\d{1,18}(\.\d{1,2})?$/);
const PERIOD = 'Whole days in Dominican time.';

function parameter(
  place: ParameterDescription['in'],
  name: string,
  schema: z.ZodType,
  example: ParameterDescription['example'],
  description: string,
  required = place === 'path',
): ParameterDescription {
  return { in: place, name, required, schema, description, example };
}

const required = (described: ParameterDescription): ParameterDescription => ({ ...described, required: true });

/** Every parameter of the interface, described once. */
export const PARAMETERS = {
  env: parameter('header', 'env', environmentSchema, 'TesteCF', 'The environment. The default is TesteCF.'),
  publicEnv: parameter(
    'header',
    'env',
    z.string(),
    'TesteCF',
    'TesteCF, CerteCF or eCF, in any case. A prefix of the path takes precedence. Without the header, or with another word, DEFAULT_ENV of the deployment counts.',
  ),
  requestId: parameter(
    'header',
    'x-request-id',
    z.string().max(8_192),
    'erp-4711',
    'The id of the request, if it has up to 128 letters, digits and `._:@/+=-`. Otherwise the gateway replaces it.',
  ),
  ifNoneMatch: parameter(
    'header',
    'if-none-match',
    z.string().max(8_192),
    '"n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"',
    'The ETag of the answer that the caller has.',
  ),
  issuerHeader: required(
    parameter('header', 'rnc-issuing', rncSchema, '199999991', 'RNC of the issuer, a taxpayer of the account.'),
  ),
  tokenOf: parameter(
    'header',
    'rnc-issuing',
    rncSchema,
    '199999991',
    "RNC of the taxpayer whose certificate logs in. The default is the account's oldest taxpayer with a valid certificate.",
  ),
  startDate: required(parameter('header', 'start-date', day, '01-06-2026', `First day, DD-MM-YYYY. ${PERIOD}`)),
  endDate: required(parameter('header', 'end-date', day, '31-12-2026', `Last day, DD-MM-YYYY. ${PERIOD}`)),
  buyerHeader: required(
    parameter('header', 'buyer-rnc', rncSchema, '188888885', 'RNC of the buyer, a taxpayer of the account.'),
  ),
  optionalBuyerHeader: parameter(
    'header',
    'buyer-rnc',
    rncSchema,
    '188888885',
    'RNC of the buyer of a received document. Required if several taxpayers of the account hold the number of one provider.',
  ),
  providerHeader: required(
    parameter('header', 'provider-rnc', rncSchema, '199999991', 'RNC of the provider who issued the invoices.'),
  ),
  optionalProviderHeader: parameter(
    'header',
    'provider-rnc',
    rncSchema,
    '199999991',
    'RNC of the provider. Required if several providers sent the buyer an e-CF of this number.',
  ),
  token: required(
    parameter('header', 'x-token', z.string().min(1), 'eyJhbGciOi...', 'Token of the authority, from /obtain_token.'),
  ),
  authorization: parameter(
    'header',
    'authorization',
    z.string(),
    'Bearer eyJhbGciOi...',
    'Token from /fe/autenticacion/api/validacioncertificado. Used only if PROVIDER_AUTH is `required`.',
  ),
  encf: parameter('path', 'encf', anyCaseEncf, 'E310000000001', 'The eNCF: E and 12 digits; e counts as E.'),
  trackId: parameter(
    'path',
    'track_id',
    trackIdSchema,
    'd2b6e27c-3908-46f3-afaa-2207b9501b4b',
    'The trackId in the answer to the submission.',
  ),
  rnc: parameter('path', 'rnc', rncSchema, '188888885', 'RNC, 9 or 11 digits.'),
  batchId: parameter(
    'path',
    'batch_id',
    z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    1,
    'The batch_id in the answer to the creation.',
  ),
  batchAfter: parameter('query', 'after', z.string(), '12', 'Where to continue: `next` of a page.'),
  lineAfter: parameter('query', 'after', z.string(), '200', 'Only lines after this one: `next` of a page.'),
  onlyLines: parameter('query', 'only', z.enum(LINE_STATUSES), 'refused', 'Only lines of this status.'),
  idempotencyKey: parameter(
    'header',
    'idempotency-key',
    z.string().min(1).max(255),
    'invoices-2026-06-01-a',
    '1 to 255 printable characters that name this content.',
  ),
  idempotencyKeyQuery: parameter(
    'query',
    'idempotency_key',
    z.string().min(1).max(255),
    'invoices-2026-06-01-a',
    'Only the batch that came with this key.',
  ),
  submissionId: parameter(
    'path',
    'submission_id',
    z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    1,
    'The id in the answer to the creation.',
  ),
  approvalId: parameter(
    'path',
    'approval_id',
    z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    1,
    'The id in the answer to the creation.',
  ),
  authorityStatusQuery: parameter(
    'query',
    'authority_status',
    authorityStatusSchema,
    'unknown',
    'Only documents of which the authority says this.',
  ),
  limit: parameter('query', 'limit', z.number().int().min(1).max(1_000).default(200), 50, 'Most rows in the answer.'),
  shortLimit: parameter('query', 'limit', z.number().int().min(1).max(100).default(10), 10, 'Most rows in the answer.'),
  offset: parameter('query', 'offset', z.number().int().min(0).default(0), 0, 'Rows to skip in the order of `sort`.'),
  invoiceStatus: parameter('query', 'status', invoiceStatusSchema, 'Aceptado', 'Only invoices of this status.'),
  approvalStatusQuery: parameter('query', 'status', approvalStatusSchema, 'pending', 'Only of this approval_status.'),
  providerQuery: parameter('query', 'provider_rnc', rncSchema, '199999991', 'Only this provider.'),
  ecfType: parameter('query', 'ecf_type', ecfTypeSchema, '31', 'Only this type of e-CF.'),
  buyerQuery: parameter('query', 'buyer_rnc', rncSchema, '188888885', 'Only this buyer.'),
  minAmount: parameter('query', 'min_amount', amount, '100.00', 'Least total_amount, included.'),
  maxAmount: parameter('query', 'max_amount', amount, '250000.00', 'Greatest total_amount, included.'),
  sort: parameter(
    'query',
    'sort',
    z.enum(LISTING_SORTS).default('-created_at'),
    '-created_at',
    'The order; a leading minus means descending. Equal values are in the order of their ids.',
  ),
  cursor: parameter(
    'query',
    'cursor',
    z.string(),
    'WyIyMDI2LTA2LTE1VDE0OjAwOjAwLjAwMFoiLDEsMSwiUm9FWUhrM2NEZ1B6Il0',
    '`next_cursor` of the last page. Everything else but `limit` must be as for the first page.',
  ),
  eventAfter: parameter(
    'query',
    'after',
    z.string().regex(EVENT_ID),
    '1-00000000',
    'The id of the last event that was handled, or `next` of the last answer. Without it, the answer begins with the oldest event that is kept.',
  ),
  eventTypes: parameter(
    'query',
    'types',
    z.string(),
    'invoice.accepted,invoice.rejected',
    `Only these types, separated by commas: ${EVENT_TYPES.join(', ')}.`,
  ),
  eventLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(MAX_EVENT_PAGE).default(DEFAULT_EVENT_PAGE),
    100,
    'Most events in the answer.',
  ),
  eventWait: parameter(
    'query',
    'wait',
    z.number().int().min(0).max(MAX_EVENT_WAIT_SECONDS).default(0),
    0,
    'Seconds that the answer may wait for an event if there is none.',
  ),
  topClients: parameter(
    'query',
    'top_clients_limit',
    z.number().int().min(1).max(50).default(10),
    5,
    'Most buyers in top_clients.',
  ),
  topProviders: parameter(
    'query',
    'top_providers_limit',
    z.number().int().min(1).max(50).default(10),
    5,
    'Most providers in top_providers.',
  ),
  validate: parameter(
    'query',
    'validate',
    z.enum(['true', 'false', '1', '0']),
    'true',
    'true only checks the document. The gateway signs nothing with legal effect and stores and sends nothing; the status is Validado.',
  ),
  submit: parameter(
    'query',
    'submit_to_authority',
    z.enum(['true', 'false']).default('true'),
    'true',
    'false only signs and stores.',
  ),
  issuerQuery: required(parameter('query', 'issuer_rnc', rncSchema, '199999991', 'RNC of the issuer.')),
  optionalIssuerQuery: parameter(
    'query',
    'issuer_rnc',
    rncSchema,
    '199999991',
    'RNC of the issuer. Required if several issuers hold the number, and for received e-CF (the RNC of the provider).',
  ),
  receiverQuery: required(parameter('query', 'receiver_rnc', rncSchema, '188888885', 'RNC of the buyer that decided.')),
  encfQuery: parameter('query', 'encf', anyCaseEncf, 'E310000000001', 'Only this eNCF.'),
  receiptStatus: parameter(
    'query',
    'receipt_status',
    z.union([z.literal(0), z.literal(1)]),
    0,
    'Only received (0) or not received (1).',
  ),
  document: parameter(
    'query',
    'document',
    z.enum(['ecf', 'rfce']),
    'ecf',
    'ecf (default) selects the e-CF, rfce the summary of a consumer invoice under 250,000.00.',
  ),
  sha256: parameter(
    'query',
    'sha256',
    z.string().regex(/^[0-9a-fA-F]{64}$/),
    'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    'SHA-256 of one of the documents that competed for the number (`conflicts` of the received invoice).',
  ),
  consumerIssuer: required(parameter('query', 'rnc_issuing', rncSchema, '199999991', 'RNC of the issuer.')),
  consumerEncf: required(
    parameter('query', 'encf', z.string().regex(/^[Ee]32\d{10}$/), 'E320000000001', 'eNCF of a consumer invoice.'),
  ),
  securityCode: required(
    parameter(
      'query',
      'security_code',
      z.string().regex(/^[\x20-\x7e]{1,64}$/),
      'Ab1+cd',
      'The six characters printed under the QR code; a blank counts as a plus sign.',
    ),
  ),
  consumerBuyer: parameter('query', 'rnc_buyer', rncSchema, '188888885', 'RNC of the buyer.'),
  file: parameter('path', 'file', z.string().regex(/^[\w.-]+$/), 'swagger-ui.css', 'A file of the page.'),
  accountId: parameter('path', 'id', idOfOurs, '2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e', 'Id of the account.'),
  keyId: parameter('path', 'keyId', idOfOurs, '7f1e2d3c-4b5a-4968-8776-655443322110', 'Id of the API key.'),
  webhookId: parameter('path', 'webhookId', idOfOurs, '0c9d1f7e-62b3-4f0c-8f5e-5f1c8e2a7b10', 'Id of the webhook.'),
  answerId: parameter('path', 'answerId', z.string().regex(/^[1-9]\d{0,14}$/), '11', 'Id of the answer.'),
  auditAfter: parameter('query', 'after', z.number().int().min(0).default(0), 0, 'Only entries after this `seq`.'),
  auditActor: parameter('query', 'actor', z.string(), 'Ana', 'Only acts of this actor.'),
  auditAction: parameter('query', 'action', z.string(), 'api_key.create', 'Only this action.'),
  auditTarget: parameter(
    'query',
    'target',
    z.string(),
    '/accounts/2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e',
    'Only acts on this object, or on one below it. It is the path below /admin.',
  ),
  administratorId: parameter(
    'path',
    'administratorId',
    idOfOurs,
    '5d4c3b2a-1908-4f7e-8d6c-5b4a39281706',
    'Id of the administrator.',
  ),
  adminLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(1_000).default(1_000),
    100,
    'Most rows in the answer.',
  ),
  adminOffset: parameter('query', 'offset', z.number().int().min(0).max(10_000_000).default(0), 0, 'Rows to skip.'),
  deliveryEnv: parameter('query', 'env', environmentSchema, 'TesteCF', 'Only this environment.'),
  deliveryStatus: parameter('query', 'status', deliveryStatusSchema, 'failed', 'Only this status.'),
  deliveryIssuer: parameter('query', 'issuer_rnc', rncSchema, '199999991', 'Only this issuer.'),
  deliveryBuyer: parameter('query', 'buyer_rnc', rncSchema, '188888885', 'Only this buyer.'),
  deliveryEncf: parameter('query', 'encf', encfSchema, 'E310000000001', 'Only this eNCF.'),
  deliveryLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(1_000).default(100),
    100,
    'Most rows in the answer.',
  ),
  deliveryBefore: parameter(
    'query',
    'before',
    z.number().int().positive(),
    1_000,
    'Only ids below this one: `next` of a page.',
  ),
  settled: parameter(
    'query',
    'settled',
    z.enum(['true', 'false']).default('false'),
    'false',
    'true lists those that a person settled.',
  ),
  undelivered: parameter(
    'query',
    'undelivered',
    z.enum(['true', 'false']).default('false'),
    'false',
    'true lists those that did not reach their issuer: no_receiver, refused, failed. `settled` is then ignored.',
  ),
  doubtfulLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(100).default(100),
    100,
    'Most rows in the answer.',
  ),
  alarmedAfter: parameter(
    'query',
    'after',
    z.number().int().min(0).default(0),
    0,
    'Where to continue: `next` of a page.',
  ),
  archivingService: parameter('path', 'service', z.enum(ARCHIVING_SERVICES), 'emission', 'A service that keeps XML.'),
  storedAfter: parameter(
    'query',
    'after',
    storedFilesQuerySchema.shape.after.unwrap(),
    'attempt:0:0',
    'Where to continue: `next` of a page.',
  ),
  storedLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(1_000).default(1_000),
    1_000,
    'Most rows of the database; each may name several files, or none.',
  ),
} as const satisfies Record<string, ParameterDescription>;
