import { storedEnvironment } from '@ecf/domain';
import type { z } from 'zod';
import { reportedActSchema } from './api/admin/audit.js';
import { batchDoneSchema } from './events/batch.js';
import { cancellationChangedSchema } from './events/cancellation.js';
import { runStartedSchema } from './events/certification-run.js';
import { deliveryChangedSchema } from './events/delivery.js';
import { invoiceChangedSchema } from './events/invoice.js';
import { invoiceStatusChangedSchema } from './events/invoice-status.js';
import { certificateNoticeSchema, rangeNoticeSchema } from './events/notice.js';
import { approvalChangedSchema, receivedInvoiceChangedSchema } from './events/received-invoice.js';
import { receivedRefusedSchema } from './events/refusal.js';
import { taxpayerStateSchema } from './events/taxpayer.js';
import type { ServiceName } from './services.js';

/** A topic: its messages, its publisher and its consumers. */
export interface Topic {
  readonly name: string;
  readonly description: string;
  /** The kind of message key; messages of one key keep their order. */
  readonly key: 'document' | 'rnc' | 'service' | 'batch';
  /** Event types and the schema of their data. Schemas only grow within a version: new fields are optional. */
  readonly events: Readonly<Record<string, z.ZodType>>;
  readonly producers: readonly ServiceName[];
  readonly consumers: readonly ServiceName[];
  readonly partitions: number;
  /** Milliseconds that messages are kept; `compacted` keeps the latest of each key permanently. */
  readonly retention: number | 'compacted';
}

const DAY = 24 * 60 * 60 * 1000;

/** Every topic of the system. */
export const TOPICS = {
  taxpayers: {
    name: 'taxpayers.v1',
    description: 'The present state of each taxpayer; its certificate travels sealed.',
    key: 'rnc',
    events: { 'taxpayer.changed': taxpayerStateSchema },
    producers: ['gateway'],
    consumers: ['emission', 'reception', 'approvals', 'query'],
    partitions: 4,
    retention: 'compacted',
  },
  invoices: {
    name: 'invoices.v1',
    description: 'The present state of each issued document, after every change.',
    key: 'document',
    events: { 'invoice.changed': invoiceChangedSchema },
    producers: ['emission'],
    consumers: ['status-poller', 'approvals', 'query'],
    partitions: 12,
    retention: 7 * DAY,
  },
  invoiceStatus: {
    name: 'invoice-status.v1',
    description: "The authority's answer to a query of a document's status, if it differs from the one before.",
    key: 'document',
    events: { 'invoice_status.changed': invoiceStatusChangedSchema },
    producers: ['status-poller'],
    consumers: ['emission'],
    partitions: 12,
    retention: 7 * DAY,
  },
  cancellations: {
    name: 'cancellations.v1',
    description: 'The present state of each cancellation of number ranges.',
    key: 'document',
    events: { 'cancellation.changed': cancellationChangedSchema },
    producers: ['emission'],
    consumers: ['query'],
    partitions: 4,
    retention: 7 * DAY,
  },
  batches: {
    name: 'batches.v1',
    description: 'The end of each batch.',
    key: 'batch',
    events: { 'batch.done': batchDoneSchema },
    producers: ['emission'],
    consumers: ['query'],
    partitions: 4,
    retention: 7 * DAY,
  },
  notices: {
    name: 'notices.v1',
    description: 'Notices about ranges of numbers and certificates that end soon, each published once.',
    key: 'rnc',
    events: {
      'range.low': rangeNoticeSchema,
      'range.expiring': rangeNoticeSchema,
      'certificate.expiring': certificateNoticeSchema,
    },
    producers: ['emission'],
    consumers: ['query'],
    partitions: 4,
    retention: 7 * DAY,
  },
  runs: {
    name: 'runs.v1',
    description: 'The start of each certification run of a taxpayer.',
    key: 'rnc',
    events: { 'run.started': runStartedSchema },
    producers: ['emission'],
    consumers: ['approvals', 'query', 'reception'],
    partitions: 4,
    retention: 7 * DAY,
  },
  receivedInvoices: {
    name: 'received-invoices.v1',
    description: 'The present state of each document that a provider sent.',
    key: 'document',
    events: {
      'received_invoice.changed': receivedInvoiceChangedSchema,
      'received.confirmed': receivedInvoiceChangedSchema,
      'received.disputed': receivedInvoiceChangedSchema,
    },
    producers: ['reception'],
    consumers: ['approvals', 'query'],
    partitions: 12,
    retention: 7 * DAY,
  },
  refusals: {
    name: 'refusals.v1',
    description: 'Each refusal of a document that a provider sent, once for each number and reason.',
    key: 'document',
    events: { 'received.refused': receivedRefusedSchema },
    producers: ['reception'],
    consumers: ['query'],
    partitions: 4,
    retention: 7 * DAY,
  },
  approvals: {
    name: 'approvals.v1',
    description: 'The present state of each commercial approval, given or received.',
    key: 'document',
    events: { 'approval.changed': approvalChangedSchema },
    producers: ['approvals'],
    consumers: ['reception', 'query'],
    partitions: 12,
    retention: 7 * DAY,
  },
  deliveries: {
    name: 'deliveries.v1',
    description: "The present state of each delivery to a buyer's receiver, with the acknowledgement it returned.",
    key: 'document',
    events: { 'delivery.changed': deliveryChangedSchema },
    producers: ['approvals'],
    consumers: ['emission', 'query'],
    partitions: 12,
    retention: 7 * DAY,
  },
  audit: {
    name: 'audit.v1',
    description:
      'The act of an administrator in a service, or the use of a certificate; the gateway appends it to the audit log.',
    key: 'service',
    events: { 'act.recorded': reportedActSchema },
    producers: ['emission', 'reception', 'approvals'],
    consumers: ['gateway'],
    partitions: 1,
    retention: 7 * DAY,
  },
} as const satisfies Record<string, Topic>;

export type TopicName = (typeof TOPICS)[keyof typeof TOPICS]['name'];

const byName = new Map<string, Topic>(Object.values(TOPICS).map((topic) => [topic.name, topic]));

/** The topic with this name; undefined if there is none. */
export function topicOf(name: string): Topic | undefined {
  return byName.get(name);
}

/** The message key of a document: `<env>:<issuer RNC>:<eNCF>`, from the second certification run on `<env>/<run>:...`. */
export function documentKey(document: {
  env: string;
  issuer_rnc: string;
  encf: string;
  run?: number | undefined;
}): string {
  const { env, issuer_rnc, encf, run = 1 } = document;
  return `${storedEnvironment({ env, run })}:${issuer_rnc}:${encf}`;
}
