import { type DocumentNode, textOf } from '@ecf/domain';
import { useTranslations } from 'use-intl';
import { useFormats } from '../../ui/format.js';
import { Totals } from '../../ui/totals.js';
import { BuyerFields } from './buyer-fields.js';
import { type Draft, partsOf } from './draft.js';
import { FaultList, Faults, faultsElsewhere } from './faults.js';
import { LineFields } from './line-fields.js';
import { NumberFields, PaymentFields, ReferenceFields } from './other-fields.js';
import { Refusal, Send } from './send.js';
import { Unsaved } from './unsaved.js';
import { useInvoiceForm } from './use-invoice-form.js';

/** An invoice or credit note as a form: checked while it is typed, then by the gateway, then sent. */
export function InvoiceForm({ start }: { start: Draft }) {
  const words = useTranslations('newInvoice');
  const { draft, document, submission, next, faults, change, review, isUnsaved, sent } = useInvoiceForm(start);
  const fields = { draft, change };
  const { totals, items } = partsOf(document);
  return (
    <Faults value={faults}>
      <form className="invoice-form" noValidate onSubmit={review}>
        <FaultList title={words('faults')} faults={faultsElsewhere(faults)} />
        <section>
          <h2>{words('document')}</h2>
          <NumberFields {...fields} next={next} />
        </section>
        {draft.type === '34' && (
          <section>
            <h2>{words('reference')}</h2>
            <ReferenceFields {...fields} />
          </section>
        )}
        <section>
          <h2>{words('buyer')}</h2>
          <BuyerFields draft={draft} onChange={(buyer) => change({ buyer })} />
        </section>
        <section>
          <h2>{words('lines')}</h2>
          <LineFields
            lines={draft.lines}
            amounts={items.map((item) => textOf(item, 'MontoItem') ?? undefined)}
            onChange={(lines) => change({ lines })}
          />
          <label className="check-box">
            <input
              type="checkbox"
              checked={draft.taxIncluded}
              onChange={({ target }) => change({ taxIncluded: target.checked })}
            />
            {words('taxIncluded')}
          </label>
          <Totals totals={totals} />
        </section>
        <section>
          <h2>{words('payment')}</h2>
          <PaymentFields {...fields} />
        </section>
        <Refusal submission={submission} />
        <p className="actions">
          <button type="submit" className="main" disabled={submission.check.isPending}>
            {submission.check.isPending ? words('reviewing') : words('review')}
          </button>
        </p>
      </form>
      <Send submission={submission} summary={<Summary document={document} next={next} />} onSent={sent} />
      <Unsaved isUnsaved={isUnsaved} />
    </Faults>
  );
}

/** The document that is about to be sent: its number, buyer and total. */
export function Summary({ document, next }: { document: DocumentNode; next: string | null }) {
  const words = useTranslations();
  const { money } = useFormats();
  const { idDoc, buyer, totals } = partsOf(document);
  const type = textOf(idDoc, 'TipoeCF') as '31';
  return (
    <dl className="pairs">
      <dt>{words(`type.${type}`)}</dt>
      <dd>{textOf(idDoc, 'eNCF') ?? next}</dd>
      <dt>{words('newInvoice.buyer')}</dt>
      <dd dir="auto">{textOf(buyer, 'RazonSocialComprador')}</dd>
      <dt>{words('invoice.total')}</dt>
      <dd>{money(textOf(totals, 'MontoTotal') ?? 0)}</dd>
    </dl>
  );
}
