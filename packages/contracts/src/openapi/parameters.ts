import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, trackIdSchema } from '../environment.js';
import { ARCHIVING_SERVICES, storedFilesQuerySchema } from '../http/internal/archive.js';
import { deliveryStatusSchema } from '../http/invoice.js';
import type { ParameterDescription } from './description.js';

const anyCaseEncf = z.string().regex(/^[Ee]\d{12}$/);
const idOfOurs = z.string().regex(/^[\w-]{1,64}$/);
const day = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);
const PERIOD = 'Days count whole, in Dominican time.';

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
  env: parameter('header', 'env', environmentSchema, 'TesteCF', 'The environment. Without it TesteCF.'),
  publicEnv: parameter(
    'header',
    'env',
    z.string(),
    'TesteCF',
    'TesteCF, CerteCF or eCF, in any case; a prefix of the path wins. Without it, or with any other word, DEFAULT_ENV of the deployment.',
  ),
  requestId: parameter(
    'header',
    'x-request-id',
    z.string().max(8_192),
    'erp-4711',
    'Kept as the id of the request where it has up to 128 letters, digits and `._:@/+=-`, else replaced by one of ours.',
  ),
  issuerHeader: required(
    parameter('header', 'rnc-issuing', rncSchema, '199999991', 'RNC of the issuer, a taxpayer of the account.'),
  ),
  tokenOf: parameter(
    'header',
    'rnc-issuing',
    rncSchema,
    '199999991',
    "Whose certificate logs in; without it the account's oldest taxpayer with a valid certificate.",
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
    'Of a received document, which buyer: needed where several taxpayers of the account hold the number of one provider.',
  ),
  providerHeader: required(
    parameter('header', 'provider-rnc', rncSchema, '199999991', 'RNC of the provider who issued the invoices.'),
  ),
  optionalProviderHeader: parameter(
    'header',
    'provider-rnc',
    rncSchema,
    '199999991',
    'Which provider, where several sent the buyer an e-CF of this number.',
  ),
  token: required(
    parameter('header', 'x-token', z.string().min(1), 'eyJhbGciOi...', 'Token of the authority, from /obtain_token.'),
  ),
  authorization: parameter(
    'header',
    'authorization',
    z.string(),
    'Bearer eyJhbGciOi...',
    'Token from /fe/autenticacion/api/validacioncertificado. Looked at only where PROVIDER_AUTH is required.',
  ),
  encf: parameter('path', 'encf', anyCaseEncf, 'E310000000001', 'The eNCF: E and 12 digits; e counts as E.'),
  trackId: parameter(
    'path',
    'track_id',
    trackIdSchema,
    'd2b6e27c-3908-46f3-afaa-2207b9501b4b',
    'The trackId that the submission answered.',
  ),
  rnc: parameter('path', 'rnc', rncSchema, '188888885', 'RNC, 9 or 11 digits.'),
  submissionId: parameter(
    'path',
    'submission_id',
    z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    1,
    'The id that the creation answered.',
  ),
  approvalId: parameter(
    'path',
    'approval_id',
    z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    1,
    'The id that the creation answered.',
  ),
  limit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(1_000).default(200),
    50,
    'Rows of the answer at most.',
  ),
  shortLimit: parameter('query', 'limit', z.number().int().min(1).max(100).default(10), 10, 'Rows at most.'),
  offset: parameter('query', 'offset', z.number().int().min(0).default(0), 0, 'Rows to leave out, newest first.'),
  topClients: parameter(
    'query',
    'top_clients_limit',
    z.number().int().min(1).max(50).default(10),
    5,
    'Buyers in top_clients at most.',
  ),
  validate: parameter(
    'query',
    'validate',
    z.enum(['true', 'false', '1', '0']),
    'true',
    'true checks only: nothing is signed with legal effect, stored or sent; the status is Validado.',
  ),
  submit: parameter(
    'query',
    'submit_to_authority',
    z.enum(['true', 'false']).default('true'),
    'true',
    'false signs and stores only.',
  ),
  issuerQuery: required(parameter('query', 'issuer_rnc', rncSchema, '199999991', 'RNC of the issuer.')),
  optionalIssuerQuery: parameter(
    'query',
    'issuer_rnc',
    rncSchema,
    '199999991',
    'RNC of the issuer: needed where several hold the number, and for received e-CF (then the provider).',
  ),
  receiverQuery: required(parameter('query', 'receiver_rnc', rncSchema, '188888885', 'RNC of the buyer who answers.')),
  encfQuery: parameter('query', 'encf', anyCaseEncf, 'E310000000001', 'Only of this eNCF.'),
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
    'ecf (default) is the e-CF, rfce the summary of a consumer invoice under 250,000.00.',
  ),
  sha256: parameter(
    'query',
    'sha256',
    z.string().regex(/^[0-9a-fA-F]{64}$/),
    'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    'One of the documents that competed for the number (`conflicts` of the received invoice).',
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
      'The six characters printed under the QR code; a blank counts as the plus sign it was.',
    ),
  ),
  consumerBuyer: parameter('query', 'rnc_buyer', rncSchema, '188888885', 'RNC of the buyer.'),
  file: parameter('path', 'file', z.string().regex(/^[\w.-]+$/), 'swagger-ui.css', 'A file of the page.'),
  accountId: parameter('path', 'id', idOfOurs, '2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e', 'Id of the account.'),
  keyId: parameter('path', 'keyId', idOfOurs, '7f1e2d3c-4b5a-4968-8776-655443322110', 'Id of the API key.'),
  adminLimit: parameter('query', 'limit', z.number().int().min(1).max(1_000).default(1_000), 100, 'Rows at most.'),
  adminOffset: parameter(
    'query',
    'offset',
    z.number().int().min(0).max(10_000_000).default(0),
    0,
    'Rows to leave out.',
  ),
  deliveryEnv: parameter('query', 'env', environmentSchema, 'TesteCF', 'Only of this environment.'),
  deliveryStatus: parameter('query', 'status', deliveryStatusSchema, 'failed', 'Only with this status.'),
  deliveryIssuer: parameter('query', 'issuer_rnc', rncSchema, '199999991', 'Only of this issuer.'),
  deliveryBuyer: parameter('query', 'buyer_rnc', rncSchema, '188888885', 'Only to this buyer.'),
  deliveryEncf: parameter('query', 'encf', encfSchema, 'E310000000001', 'Only of this eNCF.'),
  deliveryLimit: parameter('query', 'limit', z.number().int().min(1).max(1_000).default(100), 100, 'Rows at most.'),
  deliveryBefore: parameter('query', 'before', z.number().int().positive(), 1_000, 'Only ids below; `next` of a page.'),
  settled: parameter('query', 'settled', z.enum(['true', 'false']).default('false'), 'false', 'Those settled by hand.'),
  undelivered: parameter(
    'query',
    'undelivered',
    z.enum(['true', 'false']).default('false'),
    'false',
    'Those that did not come to their issuer: no_receiver, refused, failed; `settled` does not count then.',
  ),
  doubtfulLimit: parameter('query', 'limit', z.number().int().min(1).max(100).default(100), 100, 'Rows at most.'),
  alarmedAfter: parameter('query', 'after', z.number().int().min(0).default(0), 0, 'Where to go on: `next` of a page.'),
  archivingService: parameter('path', 'service', z.enum(ARCHIVING_SERVICES), 'emission', 'A service that keeps XML.'),
  storedAfter: parameter(
    'query',
    'after',
    storedFilesQuerySchema.shape.after.unwrap(),
    'attempt:0:0',
    'Where to go on: `next` of a page.',
  ),
  storedLimit: parameter(
    'query',
    'limit',
    z.number().int().min(1).max(1_000).default(1_000),
    1_000,
    'Rows of the database at most; each may name several files, or none.',
  ),
} as const satisfies Record<string, ParameterDescription>;
