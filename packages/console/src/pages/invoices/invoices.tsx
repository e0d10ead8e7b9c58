import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type InvoiceFilters, invoicesAsCsv, useInvoices } from '../../data/invoices.js';
import { useMay, usePlace } from '../../data/place.js';
import { Fault } from '../../ui/fault.js';
import { save } from '../../ui/files.js';
import { Loaded } from '../../ui/loaded.js';
import { Filters } from './filters.js';
import './invoices.css';
import { Rows } from './rows.js';

const route = getRouteApi('/invoices');

/** Issued documents, by filters that are kept in the address. */
export function Invoices() {
  const words = useTranslations('invoices');
  const newInvoice = useTranslations('newInvoice');
  const maySubmit = useMay('submit');
  const { cursor, ...filters } = route.useSearch();
  const page = useInvoices({ ...filters, ...(cursor && { cursor }) });
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {maySubmit && (
          <Link to="/invoices/new" className="button main">
            {newInvoice('title')}
          </Link>
        )}
      </header>
      <Filters filters={filters} />
      <Loaded query={page}>
        {({ invoices, next_cursor: next, total }) => (
          <>
            <p className="quiet" role="status">
              {words('count', { count: total })}
            </p>
            {total === 0 ? <Nothing filters={filters} /> : <Rows invoices={invoices} />}
            <nav className="pages" aria-label={words('pages')}>
              {cursor !== undefined && (
                <Link to="/invoices" search={filters}>
                  {words('first')}
                </Link>
              )}
              {next !== null && (
                <Link to="/invoices" search={{ ...filters, cursor: next }}>
                  {words('next')}
                </Link>
              )}
              {total > 0 && <Csv filters={filters} />}
            </nav>
          </>
        )}
      </Loaded>
    </>
  );
}

/** A text that no buyer's name has may be an own reference. */
function Nothing({ filters: { name, ...others } }: { filters: InvoiceFilters }) {
  const words = useTranslations('invoices');
  return (
    <div>
      <p className="quiet">{words('empty')}</p>
      {name !== undefined && (
        <Link to="/invoices" search={{ ...others, reference: name }}>
          {words('asReference', { text: name })}
        </Link>
      )}
    </div>
  );
}

function Csv({ filters }: { filters: InvoiceFilters }) {
  const words = useTranslations('invoices');
  const place = usePlace();
  const csv = useMutation({
    mutationFn: async () => save(`${words('file')}-${place.rnc}.csv`, await invoicesAsCsv(filters, place)),
  });
  return (
    <>
      <button type="button" className="plain" disabled={csv.isPending} onClick={() => csv.mutate()}>
        {words(csv.isPending ? 'csvBusy' : 'csv')}
      </button>
      <Fault error={csv.error} />
    </>
  );
}
