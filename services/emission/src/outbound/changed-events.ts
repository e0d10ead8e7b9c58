import { randomUUID } from 'node:crypto';
import { type AuditAct, TOPICS } from '@ecf/contracts';
import { type BusEvent, makeEvent } from '@ecf/service-kit/bus';
import { type Attempt, documentKey } from '../core/attempt/attempt.js';
import type { Cancellation } from '../core/cancellation/cancellation.js';
import { cancellationChanged } from '../core/cancellation/cancellation-body.js';
import { invoiceChanged } from '../core/published/invoice-event.js';

/** The event that publishes the present state of an attempt. */
export function invoiceEvent(attempt: Attempt, now: Date) {
  return makeEvent(
    {
      topic: TOPICS.invoices.name,
      type: 'invoice.changed',
      source: 'emission',
      subject: `${attempt.issuerRnc}:${attempt.encf}`,
      key: documentKey(attempt),
      data: invoiceChanged(attempt),
    },
    { id: randomUUID(), time: now },
  );
}

/** The action of an administrator, for the audit log; empty without one. */
export function actEvents(act: AuditAct | null): BusEvent[] {
  if (act === null) return [];
  // One key for all: acts are appended in the order of their commits.
  const service = 'emission';
  const draft = { topic: TOPICS.audit.name, type: 'act.recorded', source: service, key: service, data: act };
  return [makeEvent({ ...draft, subject: act.target }, { id: randomUUID(), time: new Date(act.at) })];
}

/** The event that publishes the present state of a cancellation. */
export function cancellationEvent(cancellation: Cancellation, now: Date) {
  const data = cancellationChanged(cancellation);
  return makeEvent(
    {
      topic: TOPICS.cancellations.name,
      type: 'cancellation.changed',
      source: 'emission',
      subject: `${data.issuer_rnc}:${data.id}`,
      key: `${data.env}:${data.issuer_rnc}:${data.id}`,
      data,
    },
    { id: randomUUID(), time: now },
  );
}
