import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Invoice } from '../../data/invoices.js';
import { useFormats } from '../../ui/format.js';
import { Status } from '../../ui/status.js';
import { type Column, Table } from '../../ui/table.js';

/** Issued documents as rows that open the document. */
export function Rows({ invoices }: { invoices: readonly Invoice[] }) {
  const words = useTranslations();
  const { day, money, rnc } = useFormats();
  const columns: Column<Invoice>[] = [
    {
      head: words('invoices.encf'),
      cell: ({ issuer_rnc, encf, reference, superseded }) => (
        <>
          <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer_rnc, encf }}>
            {encf}
          </Link>
          {reference !== null && <small>{reference}</small>}
          {superseded === true && <small>{words('invoices.isSuperseded')}</small>}
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
    { head: words('invoices.date'), cell: ({ date_issued }) => day(date_issued) },
    { head: words('invoices.status'), cell: ({ status }) => <Status status={status} /> },
    {
      head: words('invoices.delivery'),
      cell: ({ delivery_status }) => words(`invoice.delivered.${delivery_status}`),
    },
    { head: words('invoices.total'), cell: ({ total_amount }) => money(total_amount), amount: true },
  ];
  return (
    <Table caption={words('invoices.title')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} opens />
  );
}
