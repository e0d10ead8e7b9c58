import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { type Invoice, useInvoiceHistory } from '../../data/invoices.js';
import { useFormats } from '../../ui/format.js';
import { Status } from '../../ui/status.js';
import { type Moment, timelineOf } from './timeline.js';

/** What happened to an issued document, and what is still awaited. */
export function History({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const { attempts, acknowledgement, approvals } = useInvoiceHistory(invoice);
  const moments = timelineOf(
    invoice,
    attempts.data?.track_ids ?? [],
    acknowledgement.data,
    approvals.data?.answers ?? [],
  );
  const { delivery_status, approval_status } = invoice;
  const isRejected = invoice.status === 'Rechazado';
  return (
    <ol className="history">
      {moments.map((moment) => (
        <Happened key={`${moment.kind} ${moment.time}`} moment={moment} />
      ))}
      {!isRejected && acknowledgement.data === undefined && (
        <Entry title={words('delivery')}>
          <small>{words(`delivered.${delivery_status}`)}</small>
        </Entry>
      )}
      {!isRejected && approval_status === 'pending' && (
        <Entry title={words('approval')}>
          <small>{words(`approved.${approval_status}`)}</small>
        </Entry>
      )}
    </ol>
  );
}

function Entry({ title, time, children }: { title: string; time?: string | null; children?: ReactNode }) {
  const { moment } = useFormats();
  return (
    <li>
      <span>{title}</span>
      {time && <time dateTime={time}>{moment(time)}</time>}
      {children}
    </li>
  );
}

function Happened({ moment }: { moment: Moment }) {
  const words = useTranslations('invoice');
  const { time, kind } = moment;
  switch (kind) {
    case 'created':
    case 'signed':
      return <Entry title={words(kind)} time={time} />;
    case 'submitted':
      return (
        <Entry title={words('submitted')} time={time}>
          {moment.trackId !== null && <small className="code">{moment.trackId}</small>}
        </Entry>
      );
    case 'queried':
      return <Entry title={words('queried', { count: moment.count })} time={time} />;
    case 'decided':
      return (
        <Entry title={words('decided')} time={time}>
          <small>
            <Status status={moment.status} />
          </small>
        </Entry>
      );
    case 'acknowledged':
      return (
        <Entry title={words('acknowledged')} time={time}>
          <Acknowledged acknowledgement={moment.acknowledgement} />
        </Entry>
      );
    case 'approved':
      return (
        <Entry title={words('approval')} time={time}>
          <small>{words(`approved.${moment.answer.approval_status}`)}</small>
          {moment.answer.approval_status === 'rejected' && (
            <small dir="auto">{moment.answer.rejection_reason ?? words('noReason')}</small>
          )}
          {!moment.answer.confirmed && <small>{words('doubtful')}</small>}
        </Entry>
      );
  }
}

type AcknowledgementMoment = Extract<Moment, { kind: 'acknowledged' }>;

function Acknowledged({ acknowledgement }: Pick<AcknowledgementMoment, 'acknowledgement'>) {
  const words = useTranslations('invoice');
  const { valid, validation_error, receipt_status, rejection_reason } = acknowledgement;
  if (!valid) return <small>{words('invalidAcknowledgement', { reason: validation_error ?? '' })}</small>;
  if (receipt_status === 0) return <small>{words('delivered.delivered')}</small>;
  return (
    <small dir="auto">
      {words('delivered.refused')}: {rejection_reason ?? words('noReason')}
    </small>
  );
}
