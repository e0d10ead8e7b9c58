import { fitMessages, type InvoiceStatusChanged, MAX_VERDICT_MESSAGE_BYTES } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Learned } from './ports.js';
import type { Submission } from './submission.js';

/** Data of `invoice_status.changed`. */
export function invoiceStatusChanged(submission: Submission, { raw, queriedAt }: Learned): InvoiceStatusChanged {
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
