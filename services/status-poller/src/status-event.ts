import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { documentKey, fitMessages, type InvoiceStatusChanged, MAX_VERDICT_MESSAGE_BYTES, TOPICS } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { QueriedResult, Submission } from './submission.js';

/** The event that publishes a changed result. It belongs to the trace of the submission, not to that of the query. */
export function statusEvent(submission: Submission, result: QueriedResult, now: Date): BusEvent {
  const data = invoiceStatusChanged(submission, result);
  return makeEvent(
    {
      topic: TOPICS.invoiceStatus.name,
      type: 'invoice_status.changed',
      source: 'status-poller',
      subject: `${data.issuer_rnc}:${data.encf}`,
      key: documentKey(data),
      data,
    },
    { id: randomUUID(), time: now, traceparent: submission.traceparent },
  );
}

/** Data of `invoice_status.changed`. */
export function invoiceStatusChanged(submission: Submission, { raw, queriedAt }: QueriedResult): InvoiceStatusChanged {
  const { facts } = submission;
  const { messages, cut } = fitMessages(facts.messages, MAX_VERDICT_MESSAGE_BYTES);
  return {
    env: submission.env,
    issuer_rnc: submission.issuerRnc,
    encf: submission.encf,
    account_id: submission.accountId,
    track_id: submission.trackId,
    revision: submission.revision,
    status: facts.status,
    final: submission.final,
    code: facts.code ?? '',
    messages,
    ...(cut ? { messages_cut: true } : {}),
    sequence_used: facts.sequenceUsed,
    date_received: facts.dateReceived,
    asked_at: toIsoDominican(queriedAt),
    ...(raw === null
      ? { unanswered: true, answer: { http_status: 0, content_type: null, body: '' } }
      : { answer: { http_status: raw.status, content_type: raw.contentType, body: raw.body } }),
  };
}
