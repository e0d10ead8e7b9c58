import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { Bars } from '../../ui/bars.js';
import { Figure } from '../../ui/figure.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import type { Column } from '../../ui/table.js';

type Month = Schemas['InvoiceAggregate']['by_month'][number];

/** The ITBIS of the documents issued in each of the last twelve months. */
export function Months({ months }: { months: readonly Month[] }) {
  const words = useTranslations('overview');
  const { brief, money, number, month: monthName } = useFormats();
  const rows = lastMonths().map((month) => months.find((one) => one.month === month) ?? none(month));
  const columns: Column<Month>[] = [
    {
      head: words('monthName'),
      cell: ({ month }) => (
        <Link to="/invoices" search={ofMonth(month)}>
          {monthName(month)}
        </Link>
      ),
    },
    { head: words('count'), cell: ({ count }) => number(count), amount: true },
    { head: words('amount'), cell: ({ total_amount }) => money(total_amount), amount: true },
    { head: words('itbis'), cell: ({ total_itbis }) => money(total_itbis), amount: true },
  ];
  const bars = rows.map(({ month, total_itbis }) => ({
    key: month,
    label: monthName(month),
    text: `${monthName(month)}: ${money(total_itbis)}`,
    parts: [['plain', Math.max(0, Number(total_itbis))] as const],
    search: ofMonth(month),
  }));
  return (
    <Figure title={words('byMonth')} columns={columns} rows={rows} rowKey={({ month }) => month}>
      <Bars label={words('byMonth')} bars={bars} axis={brief} />
    </Figure>
  );
}

const none = (month: string) => ({ month, count: 0, total_amount: '0.00', total_itbis: '0.00' });

/** The last twelve months, `YYYY-MM`, oldest first. */
function lastMonths(): string[] {
  const [year, month] = dayBefore(0).split('-').map(Number) as [number, number];
  return Array.from({ length: 12 }, (_, at) => new Date(Date.UTC(year, month - 12 + at)).toISOString().slice(0, 7));
}

/** The documents issued in a month. */
function ofMonth(month: string) {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  return { period: 'issued', from: `${month}-01`, to: last };
}
