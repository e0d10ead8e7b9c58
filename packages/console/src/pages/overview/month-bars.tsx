import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { dayBefore, useFormats } from '../../ui/format.js';

const WIDTH = 720;
const HEIGHT = 160;
const LABELS = 24;

/** The ITBIS of the last twelve months, as bars or as a table. */
export function MonthBars({ months }: { months: Schemas['InvoiceAggregate']['by_month'] }) {
  const words = useTranslations('overview');
  const [asTable, showTable] = useState(false);
  const last = lastMonths().map((month) => months.find((one) => one.month === month) ?? none(month));
  return (
    <figure>
      <figcaption>
        <h2>{words('byMonth')}</h2>
        <button type="button" className="plain" onClick={() => showTable(!asTable)}>
          {words(asTable ? 'chart' : 'table')}
        </button>
      </figcaption>
      {asTable ? <Table months={last} /> : <Bars months={last} />}
    </figure>
  );
}

const none = (month: string) => ({ month, count: 0, total_amount: '0.00', total_itbis: '0.00' });

/** The last twelve months, `YYYY-MM`, oldest first. */
function lastMonths(): string[] {
  const [year, month] = dayBefore(0).split('-').map(Number) as [number, number];
  return Array.from({ length: 12 }, (_, at) => new Date(Date.UTC(year, month - 12 + at)).toISOString().slice(0, 7));
}

function Bars({ months }: { months: Schemas['InvoiceAggregate']['by_month'] }) {
  const words = useTranslations('overview');
  const { money, month: monthName } = useFormats();
  const x = scaleBand({ domain: months.map(({ month }) => month), range: [0, WIDTH], padding: 0.35 });
  const largest = Math.max(1, ...months.map(({ total_itbis }) => Number(total_itbis)));
  const y = scaleLinear({ domain: [0, largest], range: [0, HEIGHT - LABELS * 2] });
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words('byMonth')} className="chart">
      {months.map(({ month, total_itbis }) => {
        const height = Math.max(1, y(Number(total_itbis)));
        const left = x(month) ?? 0;
        return (
          <g key={month}>
            <title>{`${monthName(month)}: ${money(total_itbis)}`}</title>
            <Bar x={left} y={HEIGHT - LABELS - height} width={x.bandwidth()} height={height} rx={3} />
            <text x={left + x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
              {monthName(month)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function Table({ months }: { months: Schemas['InvoiceAggregate']['by_month'] }) {
  const words = useTranslations();
  const { money, number, month: monthName } = useFormats();
  return (
    <table>
      <caption className="unseen">{words('overview.byMonth')}</caption>
      <tbody>
        {months.map(({ month, count, total_amount, total_itbis }) => (
          <tr key={month}>
            <th scope="row">{monthName(month)}</th>
            <td className="amount">{number(count)}</td>
            <td className="amount">{money(total_amount)}</td>
            <td className="amount">{money(total_itbis)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
