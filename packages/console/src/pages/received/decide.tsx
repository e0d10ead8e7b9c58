import { type FormEvent, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { type Decision, type ReceivedInvoice, useDecision } from '../../data/received.js';
import { problemText } from '../../ui/loaded.js';

const REASONS = ['1', '2', '3'] as const;

/** Approves a document in one click, or rejects it with a reason. */
export function Decide({ invoice }: { invoice: ReceivedInvoice }) {
  const words = useTranslations('received');
  const state = useTranslations('state');
  const decision = useDecision(invoice);
  const dialog = useRef<HTMLDialogElement>(null);
  const decide = (made: Decision) =>
    decision.mutate(made, {
      onSuccess: () => dialog.current?.close(),
    });
  return (
    <div className="decide">
      <button type="button" disabled={decision.isPending} onClick={() => decide({ approve: true })}>
        {words('approve')}
      </button>
      <button type="button" className="plain" onClick={() => dialog.current?.showModal()}>
        {words('reject')}
      </button>
      {decision.error && <small role="alert">{problemText(decision.error, state)}</small>}
      <dialog ref={dialog} aria-label={`${words('reject')} ${invoice.encf}`}>
        <Reject encf={invoice.encf} busy={decision.isPending} decide={decide} close={() => dialog.current?.close()} />
      </dialog>
    </div>
  );
}

interface RejectProps {
  encf: string;
  busy: boolean;
  decide: (decision: Decision) => void;
  close: () => void;
}

function Reject({ encf, busy, decide, close }: RejectProps) {
  const words = useTranslations('received');
  const [reason, choose] = useState<(typeof REASONS)[number]>('1');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const detail = String(new FormData(event.currentTarget).get('detail') ?? '').trim();
    decide({ approve: false, code: Number(reason) as 1 | 2 | 3, description: detail === '' ? null : detail });
  };
  return (
    <form onSubmit={submit}>
      <h2>{`${words('reject')} ${encf}`}</h2>
      <fieldset>
        <legend>{words('reason')}</legend>
        {REASONS.map((one) => (
          <label key={one}>
            <input type="radio" name="reason" checked={reason === one} onChange={() => choose(one)} />
            {words(`reasons.${one}`)}
          </label>
        ))}
      </fieldset>
      {reason === '3' && (
        <label className="field">
          <span>{words('detail')}</span>
          <textarea name="detail" maxLength={250} required rows={3} />
        </label>
      )}
      <div className="actions">
        <button type="submit" className="main" disabled={busy}>
          {words('send')}
        </button>
        <button type="button" className="plain" onClick={close}>
          {words('cancel')}
        </button>
      </div>
    </form>
  );
}
