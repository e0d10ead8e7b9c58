import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { AWAITED_SINCE, useAwaited } from '../../data/overview.js';
import type { ReceivedInvoice } from '../../data/received.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import { ApprovalState } from '../received/states.js';

/** Received documents without a decision, those with the fewest days left first. */
export function Awaited() {
  const words = useTranslations('overview');
  const { money } = useFormats();
  const columns: Column<ReceivedInvoice>[] = [
    { head: words('provider'), cell: ({ provider_name }) => <span dir="auto">{provider_name}</span> },
    { head: words('encf'), cell: ({ encf }) => encf },
    { head: words('amount'), cell: ({ total_amount }) => money(total_amount), amount: true },
    { head: words('daysLeft'), cell: (invoice) => <ApprovalState invoice={invoice} /> },
  ];
  return (
    <section>
      <h2>{words('awaited')}</h2>
      <Loaded query={useAwaited()}>
        {({ invoices, total }) =>
          total === 0 ? (
            <p className="quiet">{words('noneAwaited')}</p>
          ) : (
            <>
              <p className="big">
                <Link to="/received" search={{ status: 'pending', from: dayBefore(AWAITED_SINCE), to: dayBefore(0) }}>
                  {words('awaitedCount', { count: total })}
                </Link>
              </p>
              <Table caption={words('awaited')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}
