import { z } from 'zod';
import * as document from '../api/document.js';
import { FIELDS } from '../api/fields.js';
import { ecfTypeSchema, environmentSchema } from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { eventListSchema, publicEventSchema } from '../events/public-event.js';
import { certificateFactsSchema, numberRangeSchema } from '../events/taxpayer.js';
import { receivedAcknowledgementSchema } from '../http/acknowledgement.js';
import * as admin from '../http/admin.js';
import * as approval from '../http/approval.js';
import { auditEntrySchema, auditPageSchema } from '../http/audit.js';
import { directoryEntrySchema, monitoringStatusSchema } from '../http/authority.js';
import * as batch from '../http/batch.js';
import { cancellationRequestSchema, cancellationSchema } from '../http/cancellation.js';
import { errorBodySchema, faultSchema, validationItemSchema } from '../http/error-body.js';
import { deliveryNameSchema, deliveryPageSchema, deliverySchema } from '../http/internal/delivery.js';
import { rawTrackIdListSchema } from '../http/internal/internal.js';
import * as invoice from '../http/invoice.js';
import * as received from '../http/received-invoice.js';
import * as submission from '../http/submission.js';
import type { JsonSchema } from './description.js';
import { errorEntrySchema, serviceSchema } from './operations-own.js';

/** Schemas of answers, and their names in the document. */
const ANSWERS = {
  Environment: environmentSchema,
  EcfType: ecfTypeSchema,
  InvoiceStatus: invoiceStatusSchema,
  InvoiceDocument: document.invoiceDocumentSchema,
  BatchDocument: document.batchDocumentSchema,
  IssuedDocument: document.issuedDocumentSchema,
  Acknowledgement: receivedAcknowledgementSchema,
  AllReceivedInvoices: received.allReceivedInvoicesSchema,
  ReceivedInvoiceAggregate: received.receivedInvoiceAggregateSchema,
  Approval: approval.approvalSchema,
  ApprovalAnswer: approval.approvalAnswerSchema,
  ApprovalAnswers: approval.approvalAnswersSchema,
  ApprovalReceipt: approval.approvalReceiptSchema,
  AuthorityMessage: authorityMessageSchema,
  Batch: batch.batchSchema,
  BatchList: batch.batchListSchema,
  BatchReceipt: batch.batchReceiptSchema,
  BatchResult: batch.batchResultSchema,
  BatchResultList: batch.batchResultListSchema,
  Cancellation: cancellationSchema,
  ContingencyList: submission.contingencyListSchema,
  ConsumptionInvoiceStatus: invoice.consumptionInvoiceStatusSchema,
  DirectoryEntry: directoryEntrySchema,
  EcfResponse: submission.ecfResponseSchema,
  ErrorBody: errorBodySchema,
  ErrorEntry: errorEntrySchema,
  Event: publicEventSchema,
  EventList: eventListSchema,
  Fault: faultSchema,
  Invoice: invoice.invoiceSchema,
  InvoiceAggregate: invoice.invoiceAggregateSchema,
  InvoiceCount: invoice.invoiceCountSchema,
  InvoiceList: invoice.invoiceListSchema,
  InvoiceStatusResponse: invoice.invoiceStatusResponseSchema,
  MonitoringStatus: monitoringStatusSchema,
  ProviderToken: received.providerTokenSchema,
  RawTrackIdList: rawTrackIdListSchema,
  ReceivedApproval: approval.receivedApprovalSchema,
  ReceivedInvoice: received.receivedInvoiceSchema,
  ReceivedInvoicesCount: received.receivedInvoicesCountSchema,
  ReceivedInvoicesList: received.receivedInvoicesListSchema,
  RfceResponse: submission.rfceResponseSchema,
  Service: serviceSchema,
  SubmissionResponse: submission.submissionResponseSchema,
  TokenResponse: submission.tokenResponseSchema,
  TrackIdList: invoice.trackIdListSchema,
  ValidationItem: validationItemSchema,
  Account: admin.accountSchema,
  Administrator: admin.administratorSchema,
  ApiKey: admin.apiKeySchema,
  AuditEntry: auditEntrySchema,
  AuditPage: auditPageSchema,
  CertificateFacts: certificateFactsSchema,
  CreatedAdministrator: admin.createdAdministratorSchema,
  CreatedApiKey: admin.createdApiKeySchema,
  RotatedApiKey: admin.rotatedApiKeySchema,
  Delivery: deliverySchema,
  DeliveryPage: deliveryPageSchema,
  NumberRange: numberRangeSchema,
  OwnAccount: admin.ownAccountSchema,
  CreatedTaxpayer: admin.createdTaxpayerSchema,
  Taxpayer: admin.taxpayerSchema,
} as const satisfies Record<string, z.ZodType>;

/** Schemas of request bodies. */
const REQUESTS = {
  Environment: environmentSchema,
  EcfType: ecfTypeSchema,
  ApprovalRequest: approval.approvalRequestSchema,
  CancellationRequest: cancellationRequestSchema,
  XmlItem: submission.xmlItemSchema,
  Active: admin.activeSchema,
  NewAccount: admin.newAccountSchema,
  NewAdministrator: admin.newAdministratorSchema,
  NewApiKey: admin.newApiKeySchema,
  ChangeApiKey: admin.changeApiKeySchema,
  RotateApiKey: admin.rotateApiKeySchema,
  NewRanges: admin.newRangesSchema,
  RangeWithNumbers: admin.rangeWithNumbersSchema,
  DeliveryName: deliveryNameSchema,
  NewTaxpayer: admin.newTaxpayerSchema,
} as const satisfies Record<string, z.ZodType>;

const address = (name: string) => `#/components/schemas/${name}`;

export interface Components {
  readonly schemas: Record<string, JsonSchema>;
  /** A reference if the schema has a name, else the schema itself. */
  schemaOf(schema: z.ZodType | JsonSchema, io: 'input' | 'output'): JsonSchema;
}

/** Every named schema as JSON Schema, and the mapping from a zod schema to its form in the document. */
export function createComponents(): Components {
  const names = new Map<z.ZodType, string>();
  const schemas: Record<string, JsonSchema> = {};
  for (const [io, group] of [
    ['output', ANSWERS],
    ['input', REQUESTS],
  ] as const) {
    const registry = z.registry<{ id: string }>();
    for (const [id, schema] of Object.entries(group)) {
      registry.add(schema, { id });
      names.set(schema, id);
    }
    const made = z.toJSONSchema(registry, { io, uri: address });
    for (const [name, schema] of Object.entries(made.schemas)) schemas[name] = plain(schema, io);
  }
  return {
    schemas,
    schemaOf(schema, io) {
      if (!(schema instanceof z.ZodType)) return schema;
      const name = names.get(schema);
      if (name !== undefined) return { $ref: address(name) };
      if (schema instanceof z.ZodArray) return { type: 'array', items: this.schemaOf(schema.element as z.ZodType, io) };
      if (schema instanceof z.ZodUnion)
        return { anyOf: schema.options.map((option) => this.schemaOf(option as z.ZodType, io)) };
      return plain(z.toJSONSchema(schema, { io }), io);
    },
  };
}

/** The JSON Schema as the document has it. */
function plain(schema: unknown, io: 'input' | 'output'): JsonSchema {
  const { $schema: _schema, $id: _id, ...rest } = tidy(schema, io) as JsonSchema;
  return rest;
}

/**
 * An answer may get further properties, so it does not forbid them. The description of a value that may be null stands at the
 * property. JSON Schema has no format `starts_with`; the pattern beside it says the same.
 */
function tidy(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((entry) => tidy(entry, io));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => !(io === 'output' && key === 'additionalProperties' && entry === false))
    .filter(([key, entry]) => !(key === 'format' && entry === 'starts_with'))
    .map(([key, entry]) => [key, key === 'properties' ? described(entry, io) : tidy(entry, io)] as const);
  return liftDescription(Object.fromEntries(entries));
}

/** The properties, each with its own description or that of its name. */
function described(properties: object, io: 'input' | 'output'): JsonSchema {
  const entries = Object.entries(properties).map(([name, property]) => {
    const schema = tidy(property, io) as JsonSchema;
    const description = schema.description ?? FIELDS[name];
    return [name, description === undefined ? schema : { ...schema, description }];
  });
  return Object.fromEntries(entries);
}

/** Moves the description of `anyOf: [value, null]` from the value to the whole. */
function liftDescription(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema;
  const { description, ...inner } = anyOf[0] as JsonSchema;
  return { ...schema, description: schema.description ?? description, anyOf: [inner, anyOf[1]] };
}
