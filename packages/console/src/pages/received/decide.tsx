import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import type { Decision } from '../../data/decisions.js';
import type { ReceivedInvoice } from '../../data/received.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { useFormats } from '../../ui/format.js';

/** The decision that the person is asked to confirm. */
export interface Asked {
  readonly kind: 'approve' | 'reject';
  readonly invoices: readonly ReceivedInvoice[];
}

interface DecideProps {
  asked: Asked | null;
  onClose: () => void;
  decide: (invoices: readonly ReceivedInvoice[], decision: Decision) => void;
}

/** Confirms an approval, or takes the reason of a rejection: the second click of a decision. */
export function Decide({ asked, onClose, decide }: DecideProps) {
  const words = useTranslations('received.decide');
  const general = useTranslations();
  if (asked === null) return null;
  const { kind, invoices } = asked;
  const made = (decision: Decision) => {
    onClose();
    decide(invoices, decision);
  };
  return (
    <Dialog title={words(kind, { count: invoices.length, encf: invoices[0]?.encf ?? '' })} onClose={onClose}>
      <Summary invoices={invoices} />
      {kind === 'approve' ? (
        <button type="button" className="main" onClick={() => made({ approve: true })}>
          {words('approve', { count: invoices.length, encf: invoices[0]?.encf ?? '' })}
        </button>
      ) : (
        <Reasons reject={(code, description) => made({ approve: false, code, description })} />
      )}
      <button type="button" className="plain" onClick={onClose}>
        {general('cancel')}
      </button>
    </Dialog>
  );
}

function Summary({ invoices }: { invoices: readonly ReceivedInvoice[] }) {
  const words = useTranslations('received.decide');
  const { money } = useFormats();
  const unconfirmed = invoices.filter(({ authority_status }) => authority_status !== 'confirmed').length;
  return (
    <>
      <ul className="decided">
        {invoices.map(({ id, encf, provider_name, total_amount }) => (
          <li key={id}>
            <span className="stranger" dir="auto">
              {provider_name}
            </span>
            <small>{`${encf} · ${money(total_amount)}`}</small>
          </li>
        ))}
      </ul>
      {unconfirmed > 0 && <p className="warn">{words('unconfirmed', { count: unconfirmed })}</p>}
      <p className="quiet">{words('effect')}</p>
    </>
  );
}

const STANDARD_REASONS = [1, 2] as const;

/** The standard's reasons: two with a fixed text, and one that the person words. */
function Reasons({ reject }: { reject: (code: 1 | 2 | 3, description: string | null) => void }) {
  const words = useTranslations('received.decide');
  const other = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('reason') ?? '').trim();
    if (text !== '') reject(3, text);
  };
  return (
    <>
      <fieldset className="reasons">
        <legend>{words('reason')}</legend>
        {STANDARD_REASONS.map((code) => (
          <button key={code} type="button" onClick={() => reject(code, null)}>
            {words(`reasons.${code}`)}
          </button>
        ))}
      </fieldset>
      <form onSubmit={other}>
        <Field label={words('other')}>
          {(ids) => <textarea {...ids} name="reason" maxLength={250} required rows={2} />}
        </Field>
        <button type="submit">{words('send')}</button>
      </form>
    </>
  );
}
