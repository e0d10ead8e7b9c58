import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { useSums } from '../../data/invoices.js';
import { dayBefore, monthAgo, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { useRemedy } from '../../ui/remedy.js';
import { type Column, Table } from '../../ui/table.js';

type Rejection = Schemas['InvoiceAggregate']['by_code'][number];

/** Rejected documents of the last thirty days by the authority's code, each with what to do. */
export function Rejections() {
  const words = useTranslations('overview');
  const { number } = useFormats();
  const remedy = useRemedy();
  const columns: Column<Rejection>[] = [
    { head: words('code'), cell: ({ code }) => <code className="number">{code}</code> },
    {
      head: words('message'),
      cell: ({ code, message }) => (
        <>
          {message}
          <small>{remedy(code) ?? words('correct')}</small>
        </>
      ),
    },
    {
      head: words('count'),
      cell: ({ code, count }) => (
        <Link to="/invoices" search={{ from: monthAgo(), to: dayBefore(0), status: 'Rechazado', code }}>
          {number(count)}
        </Link>
      ),
      amount: true,
    },
  ];
  return (
    <section>
      <h2>{words('rejections')}</h2>
      <Loaded query={useSums(monthAgo(), dayBefore(0))}>
        {({ by_code }) =>
          by_code.length === 0 ? (
            <p className="quiet">{words('noRejections')}</p>
          ) : (
            <Table caption={words('rejections')} columns={columns} rows={by_code} rowKey={({ code }) => code} />
          )
        }
      </Loaded>
    </section>
  );
}
