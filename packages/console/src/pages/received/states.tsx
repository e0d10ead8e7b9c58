import { useTranslations } from 'use-intl';
import { sentencesOf } from '../../data/answer.js';
import { type Approval, awaitsDecision, type ReceivedInvoice } from '../../data/received.js';

const CONFIRMATION_TONES = {
  pending: 'wait',
  confirmed: 'good',
  rejected: 'bad',
  unknown: 'warn',
  not_available: 'wait',
} as const;

/** What the authority says about a received document, and whether another one has the same number. */
export function AuthorityState({
  invoice,
}: {
  invoice: Pick<ReceivedInvoice, 'authority_status' | 'conflicts_total'>;
}) {
  const words = useTranslations('received');
  const { authority_status: status, conflicts_total } = invoice;
  return (
    <>
      <span className={`status ${CONFIRMATION_TONES[status]}`}>{words(`confirmed.${status}`)}</span>
      {conflicts_total > 0 && <small className="fault">{words('disputed')}</small>}
    </>
  );
}

/** The buyer's decision, or the days that are left for it. */
export function ApprovalState({ invoice }: { invoice: ReceivedInvoice }) {
  const words = useTranslations('received');
  const decisions = useTranslations('invoice.approved');
  const { approval_status: status, approval_days_left: days } = invoice;
  if (status !== 'pending')
    return <span className={`status ${status === 'approved' ? 'good' : 'bad'}`}>{decisions(status)}</span>;
  if (!awaitsDecision(invoice)) return <span className="quiet">{words('none')}</span>;
  if (typeof days !== 'number') return <span className="status wait">{words('awaits')}</span>;
  return days < 0 ? (
    <span className="status bad">{words('late', { days: -days })}</span>
  ) : (
    <span className={`status ${days <= 3 ? 'warn' : 'wait'}`}>{words('left', { days })}</span>
  );
}

/** Where a decision is: at the authority and at the provider. */
export function Sends({ approval }: { approval: Approval }) {
  const words = useTranslations('received');
  const { authority_submission_status, authority_response, issuer_delivery_status, issuer_delivery_error } = approval;
  const refusal = authority_submission_status === 'Rechazado' ? sentencesOf(authority_response) : [];
  return (
    <>
      <small>{words(`atAuthority.${authority_submission_status ?? 'none'}`)}</small>
      {refusal.map((sentence) => (
        <small key={sentence} className="fault">
          {sentence}
        </small>
      ))}
      <small>{words(`atProvider.${issuer_delivery_status ?? 'none'}`)}</small>
      {issuer_delivery_error !== null && (
        <small className="stranger" dir="auto">
          {issuer_delivery_error}
        </small>
      )}
    </>
  );
}
