import type { ServiceName } from '../topics.js';
import { MAX_BATCH_BYTES } from './batch.js';
import { SCOPES, type Scope } from './key-rights.js';
import { ACCOUNT_SETTINGS, type HttpMethod } from './own-operations.js';

/** An operation of the public interface. */
export interface Operation {
  readonly id: string;
  readonly method: HttpMethod;
  /** `{name}` is a variable part. No slash at the end; it is optional on every route. */
  readonly path: string;
  /** The service that answers. */
  readonly owner: ServiceName;
  /** `key`: needs x-api-key. `public`: called by other taxpayers and the authority, needs no key, matches in any case. */
  readonly access: 'key' | 'public';
  /** The key needs one of these scopes; absent on public operations. A GET is also open to the scope that makes its objects. */
  readonly scopes?: readonly Scope[];
  /** The body's `authority_environment` counts if the header `env` is absent. */
  readonly environmentInBody?: true;
  /** Concerns the account itself: the header `env` does not count. */
  readonly withoutEnvironment?: true;
  /** Largest body in bytes, where it is not MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
}

/** Scopes of the operations that read what `submit`, `cancel` or `approve` made. */
const READ_SUBMITTED = ['read', 'submit'] as const;
const READ_CANCELLED = ['read', 'cancel'] as const;
const READ_APPROVED = ['receive', 'approve'] as const;

/** Every operation, in the order of the specification, and the public additions. Literal parts win over variable ones. */
export const OPERATIONS = [
  { id: 'obtainToken', method: 'GET', path: '/obtain_token', owner: 'emission', access: 'key', scopes: ['submit'] },
  {
    id: 'invoiceStatus',
    method: 'GET',
    path: '/invoice-status/{track_id}',
    owner: 'status-poller',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'monitoringStatus',
    method: 'GET',
    path: '/monitoring/status',
    owner: 'query',
    access: 'key',
    scopes: ['read'],
  },

  { id: 'listEvents', method: 'GET', path: '/events', owner: 'query', access: 'key', scopes: ['read'] },
  { id: 'listInvoices', method: 'GET', path: '/invoices', owner: 'query', access: 'key', scopes: READ_SUBMITTED },
  {
    id: 'countInvoices',
    method: 'GET',
    path: '/invoices/count',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'aggregateInvoices',
    method: 'GET',
    path: '/invoices/aggregate',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  { id: 'findInvoice', method: 'GET', path: '/invoices/{encf}', owner: 'query', access: 'key', scopes: READ_SUBMITTED },
  {
    id: 'invoiceDocument',
    method: 'GET',
    path: '/invoices/{encf}/document',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'listTrackIds',
    method: 'GET',
    path: '/trackids/{encf}',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'listRawAnswers',
    method: 'GET',
    path: '/trackids/{encf}/raw',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'consumerInvoiceStatus',
    method: 'GET',
    path: '/query-consumption-invoice',
    owner: 'query',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'invoiceXml',
    method: 'GET',
    path: '/{encf}/xml',
    owner: 'query',
    access: 'key',
    scopes: ['read', 'submit', 'receive'],
  },

  { id: 'submitJson', method: 'POST', path: '/fe_Submit', owner: 'emission', access: 'key', scopes: ['submit'] },
  { id: 'submitSigned', method: 'POST', path: '/submit_ecf', owner: 'emission', access: 'key', scopes: ['submit'] },
  {
    id: 'submitSignedSummary',
    method: 'POST',
    path: '/submit_fc',
    owner: 'emission',
    access: 'key',
    scopes: ['submit'],
  },

  {
    id: 'createBatch',
    method: 'POST',
    path: '/batches',
    owner: 'emission',
    access: 'key',
    scopes: ['submit'],
    maxBodyBytes: MAX_BATCH_BYTES,
  },
  { id: 'listWaiting', method: 'GET', path: '/contingency', owner: 'emission', access: 'key', scopes: READ_SUBMITTED },
  { id: 'listBatches', method: 'GET', path: '/batches', owner: 'emission', access: 'key', scopes: READ_SUBMITTED },
  {
    id: 'findBatch',
    method: 'GET',
    path: '/batches/{batch_id}',
    owner: 'emission',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'batchResults',
    method: 'GET',
    path: '/batches/{batch_id}/results',
    owner: 'emission',
    access: 'key',
    scopes: READ_SUBMITTED,
  },
  {
    id: 'cancelBatch',
    method: 'POST',
    path: '/batches/{batch_id}/cancel',
    owner: 'emission',
    access: 'key',
    scopes: ['submit'],
  },

  {
    id: 'createCancellation',
    method: 'POST',
    path: '/anecf',
    owner: 'emission',
    access: 'key',
    scopes: ['cancel'],
    environmentInBody: true,
  },
  { id: 'listCancellations', method: 'GET', path: '/anecf', owner: 'emission', access: 'key', scopes: READ_CANCELLED },
  {
    id: 'findCancellation',
    method: 'GET',
    path: '/anecf/{submission_id}',
    owner: 'emission',
    access: 'key',
    scopes: READ_CANCELLED,
  },
  {
    id: 'cancellationXml',
    method: 'GET',
    path: '/anecf/{submission_id}/xml',
    owner: 'emission',
    access: 'key',
    scopes: READ_CANCELLED,
  },

  {
    id: 'createApproval',
    method: 'POST',
    path: '/acecf',
    owner: 'approvals',
    access: 'key',
    scopes: ['approve'],
    environmentInBody: true,
  },
  { id: 'listApprovals', method: 'GET', path: '/acecf', owner: 'approvals', access: 'key', scopes: READ_APPROVED },
  {
    id: 'findApproval',
    method: 'GET',
    path: '/acecf/{approval_id}',
    owner: 'approvals',
    access: 'key',
    scopes: READ_APPROVED,
  },
  {
    id: 'approvalXml',
    method: 'GET',
    path: '/acecf/{approval_id}/xml',
    owner: 'approvals',
    access: 'key',
    scopes: READ_APPROVED,
  },

  { id: 'receiveInvoice', method: 'POST', path: '/fe/recepcion/api/ecf', owner: 'reception', access: 'public' },
  {
    id: 'listReceived',
    method: 'GET',
    path: '/fe/recepcion/api/invoices',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'listAllReceived',
    method: 'GET',
    path: '/fe/recepcion/api/invoices/all',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'countReceived',
    method: 'GET',
    path: '/fe/recepcion/api/invoices/count',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'aggregateReceived',
    method: 'GET',
    path: '/fe/recepcion/api/invoices/aggregate',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'findReceived',
    method: 'GET',
    path: '/fe/recepcion/api/invoices/{encf}',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'receivedDocument',
    method: 'GET',
    path: '/fe/recepcion/api/invoices/{encf}/document',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'acknowledgementXml',
    method: 'GET',
    path: '/arecf/{encf}',
    owner: 'reception',
    access: 'key',
    scopes: ['receive'],
  },

  {
    id: 'receiveApproval',
    method: 'POST',
    path: '/fe/aprobacioncomercial/api/ecf',
    owner: 'approvals',
    access: 'public',
  },
  {
    id: 'findReceivedApproval',
    method: 'GET',
    path: '/fe/aprobacioncomercial/api/invoices/{encf}',
    owner: 'approvals',
    access: 'key',
    scopes: ['receive'],
  },
  {
    id: 'listApprovalAnswers',
    method: 'GET',
    path: '/fe/aprobacioncomercial/api/invoices/{encf}/answers',
    owner: 'approvals',
    access: 'key',
    scopes: ['receive'],
  },

  {
    id: 'listReceivedAcknowledgements',
    method: 'GET',
    path: '/received-arecf',
    owner: 'approvals',
    access: 'key',
    scopes: ['read'],
  },
  {
    id: 'findReceivedAcknowledgement',
    method: 'GET',
    path: '/received-arecf/{encf}',
    owner: 'approvals',
    access: 'key',
    scopes: ['read'],
  },
  {
    id: 'receivedAcknowledgementXml',
    method: 'GET',
    path: '/received-arecf/{encf}/xml',
    owner: 'approvals',
    access: 'key',
    scopes: ['read'],
  },

  { id: 'listDirectory', method: 'GET', path: '/directory/taxpayers', owner: 'query', access: 'key', scopes: ['read'] },
  {
    id: 'findInDirectory',
    method: 'GET',
    path: '/directory/taxpayers/{rnc}',
    owner: 'query',
    access: 'key',
    scopes: ['read'],
  },

  {
    id: 'account',
    method: 'GET',
    path: '/account',
    owner: 'gateway',
    access: 'key',
    scopes: SCOPES,
    withoutEnvironment: true,
  },
  ...ACCOUNT_SETTINGS.map(
    ({ id, method, path }) =>
      ({
        id,
        method,
        path: `/account${path}`,
        owner: 'gateway',
        access: 'key',
        scopes: ['manage'],
        withoutEnvironment: true,
      }) as const,
  ),

  { id: 'seed', method: 'GET', path: '/fe/autenticacion/api/semilla', owner: 'reception', access: 'public' },
  {
    id: 'validateSeed',
    method: 'POST',
    path: '/fe/autenticacion/api/validacioncertificado',
    owner: 'reception',
    access: 'public',
  },
] as const satisfies readonly Operation[];

export type OperationId = (typeof OPERATIONS)[number]['id'];
