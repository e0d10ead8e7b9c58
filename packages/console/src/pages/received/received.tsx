import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type ReceivedInvoice, useReceived } from '../../data/received.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
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
  return (
    <div className="wide">
      <table>
        <caption className="unseen">{words('title')}</caption>
        <thead>
          <tr>
            <th scope="col">{list('encf')}</th>
            <th scope="col">{words('provider')}</th>
            <th scope="col">{words('date')}</th>
            <th scope="col">{words('authority')}</th>
            <th scope="col" className="amount">
              {list('total')}
            </th>
            <th scope="col">{words('approval')}</th>
          </tr>
        </thead>
        <tbody>
          {invoices.map((invoice) => (
            <tr key={invoice.id}>
              <th scope="row">{invoice.encf}</th>
              <td>
                {invoice.provider_name}
                <small>{rnc(invoice.provider_rnc)}</small>
              </td>
              <td>{day(invoice.date_received)}</td>
              <td>{words(`confirmed.${invoice.authority_status}`)}</td>
              <td className="amount">{money(invoice.total_amount)}</td>
              <td>
                {invoice.approval_status === 'pending' ? (
                  <Decide invoice={invoice} />
                ) : (
                  <span className={`status ${invoice.approval_status === 'approved' ? 'good' : 'bad'}`}>
                    {approved(invoice.approval_status)}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
