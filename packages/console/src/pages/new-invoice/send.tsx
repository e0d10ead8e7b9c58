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
  if (check.data === undefined || faultsOf(send.error).length > 0) return null;
  return (
    <Dialog title={words('ready')} onClose={check.reset}>
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
          <button type="button" onClick={check.reset}>
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

/** The faults that the gateway found. */
export const faultsOf = (error: Error | null) => (error instanceof GatewayError ? (error.faults as Fault[]) : []);

const isUnanswered = (error: Error | null) => error instanceof GatewayError && error.isTemporary;
