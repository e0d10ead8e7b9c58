import { z } from 'zod';
import { rangeNoticeSchema } from '../events/notice.js';
import { receivedRefusedSchema } from '../events/refusal.js';
import { certificateFactsSchema, numberRangeSchema } from '../events/taxpayer.js';
import { environmentSchema, named, rncSchema, timestampSchema } from '../values.js';
import { receivedApprovalSchema } from './approvals.js';
import { batchSchema } from './batches.js';
import { cancellationSchema } from './cancellations.js';
import { invoiceSchema } from './invoices.js';
import { optional, publicOperations } from './operation.js';
import { receivedInvoiceSchema } from './received-invoices.js';
import { contingencySchema } from './submissions.js';

/** The id of an event: its place in the feed, and eight digits that cannot be guessed. */
export const EVENT_ID = /^(\d{1,15})-([0-9a-f]{8})$/;

/** Milliseconds that the feed keeps an event: 90 days. */
export const EVENT_KEPT_MS = 90 * 86_400_000;

/** Longest `wait` of a reader of the feed, in seconds. */
export const MAX_EVENT_WAIT_SECONDS = 30;
export const MAX_EVENT_PAGE = 1_000;

export const DEFAULT_EVENT_PAGE = 200;

/** Data of `received.*`, except `received.refused`. */
const receivedDataSchema = receivedInvoiceSchema
  .pick({
    id: true,
    encf: true,
    ecf_type: true,
    date_received: true,
    date_issued: true,
    total_amount: true,
    provider_rnc: true,
    provider_name: true,
    buyer_rnc: true,
    xml_storage_path: true,
    authority_status: true,
    authority_checked_at: true,
    approval_status: true,
    approval_confirmed: true,
    approval_datetime: true,
  })
  .describe('The received e-CF at the time of the event');

/** Data of `received.refused`. */
const refusalDataSchema = receivedRefusedSchema
  .pick({
    encf: true,
    ecf_type: true,
    buyer_rnc: true,
    date_received: true,
    rejection_code: true,
    rejection_reason: true,
    xml_checksum: true,
    arecf_storage_path: true,
    arecf_checksum: true,
  })
  .extend({ provider_rnc: rncSchema })
  .describe('The refusal; with code 1 or 2 it is not proven who sent the document');

/** Data of `approval.*`. */
const approvalDataSchema = receivedApprovalSchema
  .pick({ issuer_rnc: true, buyer_rnc: true, approval_status: true, approval_confirmed: true, approval_datetime: true })
  .extend({
    encf: z.string(),
    refused_by: z.enum(['authority', 'issuer']).optional().describe('Only in approval.refused'),
  })
  .describe('The decision of the buyer at the time of the event');

/** Data of `cancellation.*`. */
const cancellationDataSchema = cancellationSchema
  .pick({
    id: true,
    issuer_rnc: true,
    total_encf_canceled: true,
    authority_environment: true,
    sent_at: true,
    authority_status: true,
    xml_storage_path: true,
    xml_checksum: true,
    created_at: true,
  })
  .describe('The cancellation at the time of the event');

/** Data of `delivery.*`. */
const deliveryDataSchema = invoiceSchema
  .pick({ env: true, issuer_rnc: true, encf: true, delivery_status: true })
  .extend({ buyer_rnc: rncSchema })
  .describe('The delivery at the time of the event');

/** Data of `contingency.*`. */
const contingencyDataSchema = contingencySchema
  .pick({ since: true, deadline: true })
  .extend({ env: environmentSchema, issuer_rnc: rncSchema })
  .describe('The outage of the authority, and the end of the 72 hours after its return');

/** Data of `range.*`. */
const rangeDataSchema = numberRangeSchema
  .extend({ ...rangeNoticeSchema.pick({ issuer_rnc: true, next: true, remaining: true }).shape })
  .describe('The registered range at the time of the event');

/** Data of `certificate.expiring`. */
const certificateDataSchema = certificateFactsSchema
  .extend({ issuer_rnc: rncSchema })
  .describe('The stored certificate of the taxpayer');

const eventSubjectSchema = named('EventSubject', {
  issuer_rnc: rncSchema.optional(),
  buyer_rnc: rncSchema.optional(),
  provider_rnc: rncSchema.optional(),
  encf: z.string().nullable().describe('The eNCF; null if the event is not about one document'),
});

/** Events of some types, whose data have the same form. `subject` has the RNCs of the subject. */
function eventsOf<const T extends readonly [string, ...string[]], D extends z.ZodType>(id: string, types: T, data: D) {
  return named(id, {
    id: z.string().meta({
      description: 'Permanent; a reader resumes with the id of the last event that it handled',
      examples: ['1-5c0f31aa'],
    }),
    type: z.enum(types).describe('What happened'),
    time: timestampSchema.describe('When it happened'),
    env: environmentSchema,
    subject: eventSubjectSchema.describe('What the event is about'),
    data: data.describe(data.description ?? 'The object at the time of the event'),
  });
}

const EVENTS_BY_DATA = [
  eventsOf(
    'InvoiceEvent',
    [
      'invoice.accepted',
      'invoice.conditional',
      'invoice.rejected',
      'invoice.held',
      'invoice.withdrawn',
      'invoice.overdue',
    ],
    invoiceSchema,
  ),
  eventsOf('ContingencyEvent', ['contingency.started', 'contingency.ended', 'contingency.late'], contingencyDataSchema),
  eventsOf('DeliveryEvent', ['delivery.delivered', 'delivery.refused', 'delivery.failed'], deliveryDataSchema),
  eventsOf('ReceivedEvent', ['received.accepted', 'received.confirmed', 'received.disputed'], receivedDataSchema),
  eventsOf('ReceivedRefusedEvent', ['received.refused'], refusalDataSchema),
  eventsOf('ApprovalEvent', ['approval.received', 'approval.sent', 'approval.refused'], approvalDataSchema),
  eventsOf(
    'CancellationEvent',
    ['cancellation.accepted', 'cancellation.partial', 'cancellation.rejected'],
    cancellationDataSchema,
  ),
  eventsOf('BatchEvent', ['batch.done'], batchSchema),
  eventsOf('RangeEvent', ['range.low', 'range.expiring'], rangeDataSchema),
  eventsOf('CertificateEvent', ['certificate.expiring'], certificateDataSchema),
] as const;

/** An event in the feed. Clients tell the members apart by `type`. */
export const publicEventSchema = z.discriminatedUnion('type', EVENTS_BY_DATA).meta({
  id: 'Event',
  description: 'What happened; the form of `data` follows from `type`.',
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      EVENTS_BY_DATA.flatMap((schema) =>
        schema.shape.type.options.map((type) => [type, `#/components/schemas/${schema.meta()?.id}`]),
      ),
    ),
  },
});
export type PublicEvent = z.infer<typeof publicEventSchema>;
export type EventType = PublicEvent['type'];

/** The types of events that the feed of customers holds. */
export const EVENT_TYPES: readonly EventType[] = EVENTS_BY_DATA.flatMap(({ shape }) => shape.type.options);

/** Response of `GET /events`, oldest first. */
export const eventListSchema = named(
  'EventList',
  {
    events: z.array(publicEventSchema).describe('The events of this page'),
    next: z.string().meta({
      description: 'Send it as `after` to read the next events, also when there is no event yet',
      examples: ['1-5c0f31aa'],
    }),
  },
  { description: 'The events, and where the next ones begin.' },
);
export type EventList = z.infer<typeof eventListSchema>;

export const EVENTS = publicOperations('Events', 'query', {
  listEvents: {
    route: 'GET /events',
    scopes: ['read'],
    summary: 'Returns what happened to the documents of the account, oldest first',
    description:
      'Events of the environment in `env`, kept 90 days. Ids are permanent and become visible in their order. A key that is limited to some taxpayers sees their events only.',
    query: {
      after: optional(
        z.string().regex(EVENT_ID),
        'The id of the last event that was handled, or `next` of the last response. Without it, the response begins with the oldest event that is kept.',
        '1-00000000',
      ),
      newest: optional(
        z.enum(['true', 'false']),
        'true: if there are more than `limit` events, the response has the newest of them, oldest first, and not the oldest. `next` is then the end of the feed.',
        'true',
      ),
      types: optional(
        z.string(),
        `Only these types, separated by commas: ${EVENT_TYPES.join(', ')}.`,
        'invoice.accepted,invoice.rejected',
      ),
      limit: z
        .int()
        .min(1)
        .max(MAX_EVENT_PAGE)
        .default(DEFAULT_EVENT_PAGE)
        .describe('Maximum number of events in the response.'),
      wait: z
        .int()
        .min(0)
        .max(MAX_EVENT_WAIT_SECONDS)
        .default(0)
        .describe('Seconds that the response may wait for an event if there is none.'),
    },
    response: eventListSchema,
    errors: ['event_expired', 'unknown_event'],
  },
});
