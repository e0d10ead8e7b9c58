import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useAwaited } from '../../data/overview.js';
import type { ReceivedInvoice } from '../../data/received.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';

/** Days that a buyer has for the decision, from the receipt. */
const DAYS = 30;
const SOON = 5;

/** Received documents without a decision, those with the fewest days left first. */
export function Awaited() {
  const words = useTranslations('overview');
  const { money } = useFormats();
  const columns: Column<ReceivedInvoice>[] = [
    { head: words('provider'), cell: ({ provider_name }) => <span dir="auto">{provider_name}</span> },
    { head: words('encf'), cell: ({ encf }) => encf },
    { head: words('amount'), cell: ({ total_amount }) => money(total_amount), amount: true },
    { head: words('daysLeft'), cell: (invoice) => <DaysLeft days={daysLeft(invoice)} />, amount: true },
  ];
  return (
    <section>
      <h2>{words('awaited')}</h2>
      <Loaded query={useAwaited(true)}>
        {({ invoices, total }) =>
          total === 0 ? (
            <p className="quiet">{words('noneAwaited')}</p>
          ) : (
            <>
              <p className="big">
                <Link to="/received">{words('awaitedCount', { count: total })}</Link>
              </p>
              <Table caption={words('awaited')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function DaysLeft({ days }: { days: number }) {
  const words = useTranslations('overview');
  return (
    <span className={days <= SOON ? 'bad' : undefined}>{days < 0 ? words('overdue') : words('days', { days })}</span>
  );
}

/** The gateway's count if it has a deadline, else that of the law. */
function daysLeft({ approval_days_left: counted, date_received }: ReceivedInvoice): number {
  return counted ?? DAYS - Math.floor((Date.now() - Date.parse(date_received)) / 86_400_000);
}
