import { createHash } from 'node:crypto';
import {
  type ApprovalChanged,
  type BatchDone,
  type CancellationChanged,
  type CertificateNotice,
  type DeliveryChanged,
  EVENT_KEPT_MS,
  type EventType,
  fitMessages,
  type InvoiceChanged,
  type PublicEvent,
  type RangeNotice,
  type ReceivedInvoiceChanged,
  type ReceivedRefused,
} from '@ecf/contracts';
import { ENVIRONMENTS, storedEnvironment, toIsoDominican } from '@ecf/domain';
import { issuedInvoice, publicInvoice } from '../invoices/issued-invoice.js';

/** What a public event says: its type, with the data of that type. */
type EventContent<Event = PublicEvent> = Event extends PublicEvent ? Omit<Event, 'id' | 'time'> : never;

/** Where an event of the feed comes from. */
interface EventOrigin {
  /** Name of the fact, which is added once. A source may publish it several times. */
  readonly occurrence: string;
  /** Null for an event of the account alone, else the taxpayer of the account. */
  readonly rnc: string | null;
  /** Null if the source does not name the account of the taxpayer. */
  readonly account_id: string | null;
  /** A key that is limited to taxpayers sees an event of the account alone only if these are among them. */
  readonly taxpayers?: readonly string[] | null;
  readonly time: Date;
}

/** An event before it has its place in the feed. */
export type NewFeedEvent = EventContent & EventOrigin;

/** An event of a topic. */
export interface SourceEvent {
  readonly type: string;
  readonly data: unknown;
  /** ISO 8601, the time of the change. */
  readonly time: string;
}

/** Bytes of JSON that the messages of an invoice may take in an event. */
const MESSAGE_BYTES = 10_000;

type DraftEvent = EventContent & Omit<EventOrigin, 'time' | 'account_id'>;

/** The types of events of a subject. */
type TypeOf<Subject extends string> = Extract<EventType, `${Subject}.${string}`>;

const INVOICE_STATES: Readonly<Record<string, TypeOf<'invoice'>>> = {
  held: 'invoice.held',
  accepted: 'invoice.accepted',
  conditional: 'invoice.conditional',
  'rejected-reusable': 'invoice.rejected',
  'rejected-used': 'invoice.rejected',
  withdrawn: 'invoice.withdrawn',
};

/** A state is published several times. Each attempt has its own bytes, so an outcome is published once for each attempt. */
function ofInvoice(changed: InvoiceChanged): DraftEvent[] {
  const type = INVOICE_STATES[changed.state];
  return [
    ...(type === undefined ? [] : [anInvoice(type, changed)]),
    ...(changed.is_late && !changed.contingency ? [anInvoice('invoice.overdue', changed)] : []),
    ...ofContingency(changed),
  ];
}

/** An outage begins with the first waiting document of an issuer, and ends with the first one that has a deadline. */
function ofContingency({ env, issuer_rnc, encf, contingency, is_late, final }: InvoiceChanged): DraftEvent[] {
  if (!contingency) return [];
  const { since, deadline } = contingency;
  const one = (type: TypeOf<'contingency'>, ofDocument: string | null): DraftEvent => ({
    type,
    env,
    occurrence: [type, env, issuer_rnc, ofDocument ?? '', since].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf: ofDocument },
    data: { env, issuer_rnc, since, deadline: type === 'contingency.started' ? null : deadline },
  });
  return [
    one('contingency.started', null),
    ...(deadline === null ? [] : [one('contingency.ended', null)]),
    ...(is_late && !final ? [one('contingency.late', encf)] : []),
  ];
}

function anInvoice(type: TypeOf<'invoice'>, changed: InvoiceChanged): DraftEvent {
  const { env, run = 1, issuer_rnc, encf } = changed;
  const attempt = changed.attempts.at(-1)?.attempt ?? 0;
  const invoice = publicInvoice(issuedInvoice(changed), { delivery: null, decision: null, confirmed: false });
  return {
    type,
    env,
    // Signed XML may be sent again in another certification run.
    occurrence: [type, storedEnvironment({ env, run }), issuer_rnc, encf, attempt, changed.xml_checksum].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf },
    data: { ...invoice, messages: fitMessages(invoice.messages, MESSAGE_BYTES).messages },
  };
}

/**
 * An acknowledged document, or the authority's answer about it. A document that takes a number over has a new id. A later change
 * is the same occurrence, which the feed forgets after 90 days.
 */
function ofReceived(changed: ReceivedInvoiceChanged, { type: source, time }: SourceEvent): DraftEvent | null {
  const isAnswer = source === 'received.confirmed' || source === 'received.disputed';
  const age = Date.parse(time) - Date.parse(changed.date_received);
  if (!isAnswer && age > EVENT_KEPT_MS) return null;
  const type = isAnswer ? source : 'received.accepted';
  const { env, buyer_rnc, issuer_rnc, encf } = changed;
  const once = isAnswer ? [changed.id, changed.revision] : [changed.id];
  return {
    type,
    env,
    occurrence: [type, env, issuer_rnc, encf, buyer_rnc, ...once].join(':'),
    rnc: buyer_rnc,
    subject: { buyer_rnc, provider_rnc: issuer_rnc, encf },
    data: {
      id: changed.id,
      encf,
      ecf_type: changed.ecf_type,
      date_received: changed.date_received,
      date_issued: changed.date_issued === null ? null : `${changed.date_issued}T00:00:00-04:00`,
      total_amount: Number(changed.total_amount),
      provider_rnc: issuer_rnc,
      provider_name: changed.issuer_name,
      buyer_rnc,
      xml_storage_path: changed.xml_storage_path,
      authority_status: changed.authority_status ?? 'not_available',
      authority_checked_at: changed.authority_checked_at ?? null,
      approval_status: changed.approval_status,
      approval_confirmed: changed.approval_confirmed ?? false,
      approval_datetime: changed.approval_datetime,
    },
  };
}

/** A number that is refused again for the same reason is the same occurrence. */
function ofRefusal({ account_id: _, env, issuer_rnc: provider_rnc, ...refused }: ReceivedRefused): DraftEvent {
  const { buyer_rnc, encf, rejection_code, rejection_reason } = refused;
  const type = 'received.refused';
  const reason = createHash('sha256').update(rejection_reason).digest('hex');
  return {
    type,
    env,
    occurrence: [type, env, provider_rnc, encf, buyer_rnc, rejection_code, reason].join(':'),
    rnc: buyer_rnc,
    subject: { buyer_rnc, provider_rnc, encf },
    data: { ...refused, provider_rnc },
  };
}

/** Null until the delivery has ended. A receiver that the directory does not list is not a failure. */
function ofDelivery(changed: DeliveryChanged): DraftEvent | null {
  const { env, run = 1, issuer_rnc, encf, buyer_rnc, delivery_status } = changed;
  const type = endingOf(changed);
  if (type === null) return null;
  return {
    type,
    env,
    occurrence: [type, storedEnvironment({ env, run }), issuer_rnc, encf, changed.revision].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf },
    data: { env, issuer_rnc, encf, buyer_rnc, delivery_status },
  };
}

function endingOf({ delivery_status, final }: DeliveryChanged): TypeOf<'delivery'> | null {
  if (delivery_status === 'delivered') return 'delivery.delivered';
  if (delivery_status === 'refused') return 'delivery.refused';
  const failed = delivery_status === 'failed' || (delivery_status === 'unacknowledged' && final === true);
  return failed ? 'delivery.failed' : null;
}

/** Null if there is no decision, or if a decision no longer counts for another reason than its refusal. */
function ofApproval(changed: ApprovalChanged): DraftEvent | null {
  const { direction, env, issuer_rnc, buyer_rnc, encf, approval_status, approval_datetime } = changed;
  const refusedBy = changed.refused_by_issuer ? 'issuer' : changed.refused_by_authority ? 'authority' : null;
  if (approval_status === 'pending' && refusedBy === null) return null;
  const received = direction === 'received';
  const type = received ? 'approval.received' : refusedBy !== null ? 'approval.refused' : 'approval.sent';
  return {
    type,
    env,
    occurrence: [type, env, issuer_rnc, encf, buyer_rnc, changed.revision].join(':'),
    rnc: received ? issuer_rnc : buyer_rnc,
    subject: received ? { issuer_rnc, encf } : { buyer_rnc, provider_rnc: issuer_rnc, encf },
    data: {
      issuer_rnc,
      buyer_rnc,
      encf,
      approval_status,
      approval_confirmed: changed.approval_confirmed ?? false,
      approval_datetime,
      ...(refusedBy === null ? {} : { refused_by: refusedBy }),
    },
  };
}

const CANCELLATION_STATUSES: Readonly<Record<string, TypeOf<'cancellation'>>> = {
  Aceptado: 'cancellation.accepted',
  Parcial: 'cancellation.partial',
  Rechazado: 'cancellation.rejected',
};

function ofCancellation(changed: CancellationChanged): DraftEvent | null {
  const type = CANCELLATION_STATUSES[changed.authority_status ?? ''];
  if (type === undefined) return null;
  const { id, env, issuer_rnc } = changed;
  return {
    type,
    env,
    occurrence: [type, env, issuer_rnc, id].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf: null },
    data: {
      id,
      issuer_rnc,
      total_encf_canceled: changed.total_encf_canceled,
      authority_environment: env,
      sent_at: changed.sent_at,
      authority_status: changed.authority_status,
      xml_storage_path: changed.xml_storage_path,
      xml_checksum: changed.xml_checksum,
      created_at: changed.created_at,
    },
  };
}

function ofBatch({ env, account_id, taxpayers, issuer_rnc, batch }: BatchDone): DraftEvent {
  return {
    type: 'batch.done',
    env,
    occurrence: ['batch.done', env, account_id, batch.batch_id].join(':'),
    rnc: null,
    taxpayers,
    subject: issuer_rnc === null ? { encf: null } : { issuer_rnc, encf: null },
    data: batch,
  };
}

function ofRange(
  type: 'range.low' | 'range.expiring',
  { issuer_rnc, range, next, remaining, published_at }: RangeNotice,
): DraftEvent {
  return {
    type,
    env: range.env,
    occurrence: [type, range.env, issuer_rnc, range.from, published_at].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf: null },
    data: { ...range, issuer_rnc, next, remaining },
  };
}

/** A certificate belongs to no environment: it is published in each. */
function ofCertificate({ issuer_rnc, certificate }: CertificateNotice): DraftEvent[] {
  const type = 'certificate.expiring';
  return ENVIRONMENTS.map((env) => ({
    type,
    env,
    occurrence: [type, env, issuer_rnc, certificate.fingerprint].join(':'),
    rnc: issuer_rnc,
    subject: { issuer_rnc, encf: null },
    data: { ...certificate, issuer_rnc },
  }));
}

function draftEvents(source: SourceEvent): readonly (DraftEvent | null)[] {
  const { type, data } = source;
  switch (type) {
    case 'invoice.changed':
      return ofInvoice(data as InvoiceChanged);
    case 'received_invoice.changed':
    case 'received.confirmed':
    case 'received.disputed':
      return [ofReceived(data as ReceivedInvoiceChanged, source)];
    case 'received.refused':
      return [ofRefusal(data as ReceivedRefused)];
    case 'delivery.changed':
      return [ofDelivery(data as DeliveryChanged)];
    case 'approval.changed':
      return [ofApproval(data as ApprovalChanged)];
    case 'cancellation.changed':
      return [ofCancellation(data as CancellationChanged)];
    case 'range.low':
    case 'range.expiring':
      return [ofRange(type, data as RangeNotice)];
    case 'certificate.expiring':
      return ofCertificate(data as CertificateNotice);
    case 'batch.done':
      return [ofBatch(data as BatchDone)];
    default:
      return [];
  }
}

/** The events of customers among the events of topics, in the same order. */
export function publicEvents(events: readonly SourceEvent[]): NewFeedEvent[] {
  return events.flatMap((event) =>
    draftEvents(event).flatMap((one) =>
      one === null ? [] : [{ ...one, account_id: accountOf(event), time: new Date(event.time) }],
    ),
  );
}

function accountOf({ data }: SourceEvent): string | null {
  return (data as { readonly account_id?: string }).account_id ?? null;
}

/** The event as it is shown. */
export function shownEvent(event: Omit<PublicEvent, 'time'> & { readonly time: Date }): PublicEvent {
  return { ...event, time: toIsoDominican(event.time) } as PublicEvent;
}
