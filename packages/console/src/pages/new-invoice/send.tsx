import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { GatewayError } from '../../data/gateway.js';
import type { Submitted, useSubmission } from '../../data/submission.js';
import { Dialog } from '../../ui/dialog.js';
import { Fault as Failure } from '../../ui/fault.js';
import { type Fault, FaultList } from './faults.js';

interface SendProps {
  submission: ReturnType<typeof useSubmission>;
  /** What is about to be sent, in a few words. */
  summary: ReactNode;
  onSent: (submitted: Submitted) => void;
}

/** After a dry run without faults: what is sent, its warnings, and the button that sends it. */
export function Send({ submission: { check, send }, summary, onSent }: SendProps) {
  const words = useTranslations('newInvoice');
  if (check.data === undefined || faultsOf(send.error).length > 0 || wasIssued(send.error)) return null;
  return (
    <Dialog title={words('ready')} onClose={check.reset} stays={send.isPending}>
      <div className="confirm">
        {summary}
        <p className="quiet">{words('readyHint')}</p>
        <FaultList title={words('warnings')} faults={check.data.warnings as Fault[]} />
        {isUnanswered(send.error) ? (
          <p className="fault" role="alert">
            {words('unanswered')}
          </p>
        ) : (
          <Failure error={send.error} />
        )}
        <p className="actions">
          <button type="button" disabled={send.isPending} onClick={check.reset}>
            {words('back')}
          </button>
          <button
            type="button"
            className="main"
            disabled={send.isPending}
            onClick={() => send.mutate(undefined, { onSuccess: onSent })}
          >
            {send.isPending ? words('sending') : words('send')}
          </button>
        </p>
      </div>
    </Dialog>
  );
}

/** Why the check failed without faults, or that an earlier version was issued, with a link to the list that has it. */
export function Refusal({ submission: { check, send } }: Pick<SendProps, 'submission'>) {
  const words = useTranslations('invoice');
  const failed = faultsOf(check.error).length === 0 ? check.error : null;
  const error = wasIssued(send.error) ? send.error : failed;
  return (
    <>
      <Failure error={error} />
      {wasIssued(error) && <Link to="/invoices">{words('toList')}</Link>}
    </>
  );
}

/** The faults that the gateway found. */
export const faultsOf = (error: Error | null) => (error instanceof GatewayError ? (error.faults as Fault[]) : []);

const isUnanswered = (error: Error | null) => error instanceof GatewayError && error.isTemporary;

/** Whether the refusal means that an earlier version of the document was issued. */
const wasIssued = (error: Error | null) => error instanceof GatewayError && error.code === 'idempotency_conflict';
