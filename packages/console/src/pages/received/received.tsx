import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type ReceivedInvoice, useReceived } from '../../data/received.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import { Decide } from './decide.js';

const route = getRouteApi('/received');

/** Documents of providers, each with the decision that the buyer owes. */
export function Received() {
  const words = useTranslations('received');
  const list = useTranslations('invoices');
  const search = route.useSearch();
  const page = useReceived(search);
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {page.data && <p className="quiet">{list('count', { count: page.data.total })}</p>}
      </header>
      <Loaded query={page}>
        {({ invoices, next_cursor: next }) => (
          <>
            {invoices.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows invoices={invoices} />}
            {next !== null && (
              <nav className="pages" aria-label={words('title')}>
                <Link to="/received" search={{ ...search, cursor: next }}>
                  {list('next')}
                </Link>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ invoices }: { invoices: readonly ReceivedInvoice[] }) {
  const words = useTranslations('received');
  const list = useTranslations('invoices');
  const approved = useTranslations('invoice.approved');
  const { day, money, rnc } = useFormats();
  const columns: Column<ReceivedInvoice>[] = [
    { head: list('encf'), cell: ({ encf }) => encf },
    {
      head: words('provider'),
      cell: ({ provider_name, provider_rnc }) => (
        <>
          {provider_name}
          <small>{rnc(provider_rnc)}</small>
        </>
      ),
    },
    { head: words('date'), cell: ({ date_received }) => day(date_received) },
    { head: words('authority'), cell: ({ authority_status }) => words(`confirmed.${authority_status}`) },
    { head: list('total'), cell: ({ total_amount }) => money(total_amount), amount: true },
    {
      head: words('approval'),
      cell: (invoice) =>
        invoice.approval_status === 'pending' ? (
          <Decide invoice={invoice} />
        ) : (
          <span className={`status ${invoice.approval_status === 'approved' ? 'good' : 'bad'}`}>
            {approved(invoice.approval_status)}
          </span>
        ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} />;
}
