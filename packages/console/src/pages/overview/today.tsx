import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { useSums } from '../../data/invoices.js';
import { type BarOf, Bars } from '../../ui/bars.js';
import { Figure } from '../../ui/figure.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';

type Sums = Schemas['InvoiceAggregate'];

/** The documents of today: how many, in which status, and at which hour they came. */
export function Today() {
  const today = dayBefore(0);
  return (
    <Loaded query={useSums(today, today)}>
      {(sums) => (
        <div className="columns today">
          <Totals sums={sums} />
          <Hours hours={sums.by_hour ?? []} />
        </div>
      )}
    </Loaded>
  );
}

const ofToday = () => ({ from: dayBefore(0), to: dayBefore(0) });

function Totals({ sums }: { sums: Sums }) {
  const words = useTranslations('overview');
  const { money, number } = useFormats();
  return (
    <section>
      <h2>{words('today')}</h2>
      <p className="big">
        <Link to="/invoices" search={ofToday()}>
          {words('documents', { count: sums.total_invoices })}
        </Link>
      </p>
      <dl className="pairs">
        <dt>{words('accepted')}</dt>
        <dd>{money(sums.total_amount)}</dd>
        <dt>{words('itbis')}</dt>
        <dd>{money(sums.total_itbis)}</dd>
      </dl>
      <ul className="statuses">
        {sums.by_status.map(({ status, count }) => (
          <li key={status}>
            <Status status={status} />
            <Link to="/invoices" search={{ ...ofToday(), status }}>
              {number(count)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Hours({ hours }: { hours: NonNullable<Sums['by_hour']> }) {
  const words = useTranslations('overview');
  const { brief, number } = useFormats();
  const rows = Array.from({ length: 24 }, (_, hour) => hours.find((one) => one.hour === hour) ?? { hour, count: 0 });
  const nameOf = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
  const bars = rows.map(
    ({ hour, count }): BarOf => ({
      key: String(hour),
      label: nameOf(hour),
      text: `${nameOf(hour)}: ${words('documents', { count })}`,
      parts: [['plain', count]],
      search: ofToday(),
    }),
  );
  const columns = [
    { head: words('hour'), cell: (row: (typeof rows)[number]) => nameOf(row.hour) },
    { head: words('count'), cell: (row: (typeof rows)[number]) => number(row.count), amount: true },
  ];
  const filled = rows.filter(({ count }) => count > 0);
  return (
    <Figure title={words('byHour')} columns={columns} rows={filled} rowKey={({ hour }) => String(hour)}>
      <Bars label={words('byHour')} bars={bars} axis={brief} />
    </Figure>
  );
}
