import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Invoice } from '../../data/invoices.js';
import { useMay } from '../../data/place.js';
import { useFormats } from '../../ui/format.js';
import { type Column, Table } from '../../ui/table.js';

/** Documents with the state of their delivery, what to do about it, and the buyer's acknowledgement. */
export function Rows({ invoices, show }: { invoices: readonly Invoice[]; show: (encf: string) => void }) {
  const words = useTranslations();
  const seesAcknowledgements = useMay('read');
  const { day, rnc } = useFormats();
  const columns: Column<Invoice>[] = [
    {
      head: words('invoices.encf'),
      cell: ({ issuer_rnc, encf, created_at }) => (
        <>
          <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer_rnc, encf }}>
            {encf}
          </Link>
          <small>{day(created_at)}</small>
        </>
      ),
    },
    {
      head: words('invoices.buyer'),
      cell: ({ buyer_name, buyer_rnc }) => (
        <>
          <span dir="auto">{buyer_name}</span>
          {buyer_rnc !== null && <small>{rnc(buyer_rnc)}</small>}
        </>
      ),
    },
    {
      head: words('deliveries.state'),
      cell: ({ delivery_status: state }) => (
        <>
          <span className={`status ${state === 'pending' ? 'wait' : 'bad'}`}>
            {words(`invoice.delivered.${state}`)}
          </span>
          <small>{words(`deliveries.remedy.${state}`)}</small>
        </>
      ),
    },
    {
      head: words('deliveries.acknowledgement'),
      cell: ({ encf, delivery_status }) =>
        seesAcknowledgements &&
        delivery_status !== 'pending' && (
          <button type="button" className="plain" onClick={() => show(encf)}>
            {words('deliveries.show')}
            <span className="unseen"> {encf}</span>
          </button>
        ),
    },
  ];
  return (
    <Table caption={words('deliveries.title')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} />
  );
}
