import {
  fitMessages,
  type InvoiceAttempt,
  type InvoiceChanged,
  MAX_EVENT_ATTEMPTS,
  MAX_EVENT_MESSAGE_BYTES,
  MAX_VERDICT_MESSAGE_BYTES,
} from '@ecf/contracts';
import { EMISSION_STATES, type EmissionState, type InvoiceStatus, toIsoDominican } from '@ecf/domain';
import type { Attempt, PastSubmission } from '../attempt/attempt.js';
import { latestSubmissions } from '../attempt/submission-history.js';
import { isLate, pastOf } from '../attempt/transitions.js';

/** The public status of a state. */
export function publicStatus(state: EmissionState): InvoiceStatus {
  return EMISSION_STATES[state].status;
}

/** Public `sequence_used`: true once the number is used, whatever flag the authority sends after 1209. */
export function sequenceUsed(state: EmissionState): boolean | null {
  return EMISSION_STATES[state].sequenceUsed;
}

/**
 * Data of `invoice.changed`: the present state of an emission, cut to the size of an event. Submissions and messages
 * are unlimited in number, but an event has a maximum size.
 */
export function invoiceChanged(attempt: Attempt): InvoiceChanged {
  const { latest, omitted } = latestSubmissions(attempt.past);
  const whole = wholeInvoice(latest, attempt);
  const attempts = fitAttempts(whole.attempts, omitted);
  return { ...whole, messages: fitMessages(whole.messages, MAX_VERDICT_MESSAGE_BYTES).messages, attempts };
}

/**
 * Data of `invoice.changed` with every submission and message.
 *
 * @param past the submission history, oldest first
 */
export function wholeInvoice(past: readonly PastSubmission[], attempt: Attempt): InvoiceChanged {
  const { summary, securityCode, qrUrl } = attempt.facts;
  return {
    id: attempt.emissionId,
    env: attempt.env,
    run: attempt.run,
    issuer_rnc: attempt.issuerRnc,
    encf: attempt.encf,
    account_id: attempt.accountId,
    revision: attempt.revision,
    ecf_type: attempt.ecfType,
    route: attempt.route,
    state: attempt.state,
    status: publicStatus(attempt.state),
    final: EMISSION_STATES[attempt.state].decided,
    code: attempt.verdict.code,
    messages: [...attempt.verdict.messages],
    sequence_used: sequenceUsed(attempt.state),
    track_id: attempt.trackId,
    issuer_name: summary.issuer_name,
    buyer_rnc: summary.buyer_rnc,
    buyer_name: summary.buyer_name,
    date_issued: summary.date_issued,
    created_at: toIsoDominican(attempt.createdAt),
    signed_at: toIsoDominican(attempt.signedAt),
    total_amount: summary.total_amount,
    total_itbis: summary.total_itbis,
    modified_encf: summary.modified_encf,
    security_code: securityCode,
    qr_url: qrUrl,
    xml_storage_path: attempt.xml.path,
    xml_checksum: attempt.xml.sha256,
    rfce_storage_path: attempt.rfce?.path ?? null,
    rfce_checksum: attempt.rfce?.sha256 ?? null,
    reference: attempt.ownReference ?? null,
    submitted_by: attempt.submittedBy ?? null,
    request_id: attempt.requestId ?? null,
    contingency: attempt.contingencySince
      ? {
          since: toIsoDominican(attempt.contingencySince),
          deadline: attempt.deadline ? toIsoDominican(attempt.deadline) : null,
        }
      : null,
    is_late: isLate(attempt),
    attempts: [...past.map(pastAttempt), pastAttempt(pastOf(attempt))],
  };
}

/** The latest submissions. If messages do not fit, those of the latest submissions are kept. */
function fitAttempts(attempts: readonly InvoiceAttempt[], before: number): InvoiceAttempt[] {
  const fitted: InvoiceAttempt[] = [];
  let bytesLeft = MAX_EVENT_MESSAGE_BYTES;
  for (const attempt of attempts.slice(-MAX_EVENT_ATTEMPTS).reverse()) {
    const { messages, cut, bytes } = fitMessages(attempt.messages, Math.min(bytesLeft, MAX_VERDICT_MESSAGE_BYTES));
    fitted.push(cut ? { ...attempt, messages, messages_cut: true } : attempt);
    bytesLeft -= bytes;
  }
  fitted.reverse();
  const omitted = before + attempts.length - fitted.length;
  return fitted.map((attempt, index) =>
    index === 0 && omitted > 0 ? { ...attempt, earlier_omitted: omitted } : attempt,
  );
}

function pastAttempt(past: PastSubmission): InvoiceAttempt {
  return {
    attempt: past.attempt,
    track_id: past.trackId,
    submitted_at: past.submittedAt,
    status: publicStatus(past.state),
    code: past.code,
    messages: [...past.messages],
    sequence_used: sequenceUsed(past.state),
    date_received: past.dateReceived,
    final: EMISSION_STATES[past.state].decided,
  };
}
