import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { type BarOf, Bars } from '../../ui/bars.js';
import { Figure } from '../../ui/figure.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import { Status, TONES } from '../../ui/status.js';
import type { Column } from '../../ui/table.js';

type Sums = Schemas['InvoiceAggregate'];
type ByDay = Sums['by_day'][number];

/** The last thirty days, each by status. */
export function Days({ sums }: { sums: Sums }) {
  const words = useTranslations();
  const { brief, number, shortDay, day: dayName } = useFormats();
  const statuses = sums.by_status.map(({ status }) => status);
  const bars = Array.from({ length: 30 }, (_, index) => dayBefore(29 - index)).map((day): BarOf => {
    const own = sums.by_day.filter((row) => row.day === day);
    const parts = statuses.map((status) => own.find((row) => row.status === status)?.count ?? 0);
    const said = own.map(({ status, count }) => `${words(`status.${status}`)} ${number(count)}`);
    return {
      key: day,
      label: shortDay(day),
      text: [dayName(day), ...said].join('\n'),
      parts: parts.map((count, at) => [TONES[statuses[at] as ByDay['status']], count]),
      search: { from: day, to: day },
    };
  });
  const columns: Column<ByDay>[] = [
    { head: words('overview.day'), cell: ({ day }) => dayName(day) },
    { head: words('invoices.status'), cell: ({ status }) => <Status status={status} /> },
    {
      head: words('overview.count'),
      cell: ({ day, status, count }) => (
        <Link to="/invoices" search={{ from: day, to: day, status }}>
          {number(count)}
        </Link>
      ),
      amount: true,
    },
  ];
  const title = words('overview.byDay');
  return (
    <Figure title={title} columns={columns} rows={sums.by_day} rowKey={({ day, status }) => day + status}>
      <ul className="legend">
        {sums.by_status.map(({ status, count }) => (
          <li key={status}>
            <Status status={status} />{' '}
            <Link to="/invoices" search={{ from: dayBefore(29), to: dayBefore(0), status }}>
              {number(count)}
            </Link>
          </li>
        ))}
      </ul>
      <Bars label={title} bars={bars} axis={brief} />
    </Figure>
  );
}
