import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { useSums } from '../../data/invoices.js';
import { useAccount, usePlace } from '../../data/place.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';
import { MonthBars } from './month-bars.js';

type Sums = Schemas['InvoiceAggregate'];

/** What happened today and in the last thirty days, and what needs a person. */
export function Overview() {
  const words = useTranslations('overview');
  const today = dayBefore(0);
  const sumsOfToday = useSums(today, today);
  const sums = useSums(dayBefore(30), today);
  const year = useSums(dayBefore(365), today);
  return (
    <>
      <h1>{words('title')}</h1>
      <div className="figures">
        <Loaded query={sumsOfToday}>{(data) => <Figures title={words('today')} sums={data} from={today} />}</Loaded>
        <Loaded query={sums}>{(data) => <Figures title={words('month')} sums={data} from={dayBefore(30)} />}</Loaded>
      </div>
      <div className="columns">
        <section>
          <h2>{words('attention')}</h2>
          <Attention rejected={sums.data?.by_status.find(({ status }) => status === 'Rechazado')?.count ?? 0} />
        </section>
        <section>
          <h2>{words('byStatus')}</h2>
          <Loaded query={sums}>{(data) => <ByStatus sums={data} />}</Loaded>
        </section>
      </div>
      <section>
        <Loaded query={year}>{(data) => <MonthBars months={data.by_month} />}</Loaded>
      </section>
      <section>
        <h2>{words('topBuyers')}</h2>
        <Loaded query={sums}>{(data) => <TopBuyers sums={data} />}</Loaded>
      </section>
    </>
  );
}

function Figures({ title, sums, from }: { title: string; sums: Sums; from: string }) {
  const words = useTranslations('overview');
  const { money } = useFormats();
  return (
    <section className="figure">
      <h2>{title}</h2>
      <p className="big">
        <Link to="/invoices" search={{ from, to: dayBefore(0) }}>
          {words('documents', { count: sums.total_invoices })}
        </Link>
      </p>
      <dl className="pairs">
        <dt>{words('accepted')}</dt>
        <dd>{money(sums.total_amount)}</dd>
        <dt>{words('itbis')}</dt>
        <dd>{money(sums.total_itbis)}</dd>
      </dl>
    </section>
  );
}

function ByStatus({ sums }: { sums: Sums }) {
  const { number } = useFormats();
  const words = useTranslations('overview');
  if (sums.total_invoices === 0) return <p className="quiet">{words('documents', { count: 0 })}</p>;
  return (
    <ul className="bars">
      {sums.by_status.map(({ status, count }) => (
        <li key={status}>
          <Link to="/invoices" search={{ status }}>
            <Status status={status} />
          </Link>
          <meter min={0} max={sums.total_invoices} value={count} aria-hidden="true" />
          <span className="amount">{number(count)}</span>
        </li>
      ))}
    </ul>
  );
}

function TopBuyers({ sums }: { sums: Sums }) {
  const words = useTranslations();
  const { money, number, rnc } = useFormats();
  if (sums.top_clients.length === 0) return <p className="quiet">{words('overview.documents', { count: 0 })}</p>;
  return (
    <table>
      <caption className="unseen">{words('overview.topBuyers')}</caption>
      <tbody>
        {sums.top_clients.map(({ buyer_rnc, buyer_name, count, total_amount }) => (
          <tr key={buyer_rnc ?? 'none'}>
            <th scope="row">{buyer_name ?? words('overview.noBuyer')}</th>
            <td className="quiet">
              {buyer_rnc !== null && (
                <Link to="/invoices" search={{ buyer: buyer_rnc }}>
                  {rnc(buyer_rnc)}
                </Link>
              )}
            </td>
            <td className="amount">{number(count)}</td>
            <td className="amount">{money(total_amount)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const SOON_MS = 30 * 86_400_000;
const FEW_NUMBERS = 1_000;

/** Certificates and ranges that end, and rejected documents. */
function Attention({ rejected }: { rejected: number }) {
  const words = useTranslations('overview');
  const { day, number } = useFormats();
  const { env, rnc } = usePlace();
  const account = useAccount();
  return (
    <Loaded query={account}>
      {({ taxpayers }) => {
        const taxpayer = taxpayers.find((one) => one.rnc === rnc);
        if (taxpayer === undefined) return null;
        const { name, certificate_not_after: ends, ranges } = taxpayer;
        const soon = (time: string | null) => time !== null && new Date(time).getTime() - Date.now() < SOON_MS;
        const own = ranges.filter((range) => range.env === env);
        const lines = [
          ...(ends === null ? [words('certificateMissing', { name })] : []),
          ...(ends !== null && soon(ends) ? [words('certificateEnds', { name, day: day(ends) })] : []),
          ...own
            .filter(({ remaining }) => remaining !== null && remaining < FEW_NUMBERS)
            .map(({ ecf_type, remaining }) => words('rangeLow', { type: ecf_type, remaining: number(remaining ?? 0) })),
          ...own
            .filter(({ expires }) => soon(expires))
            .map(({ ecf_type, expires }) => words('rangeEnds', { type: ecf_type, day: day(expires ?? '') })),
        ];
        if (lines.length === 0 && rejected === 0) return <p className="quiet">{words('calm')}</p>;
        return (
          <ul className="attention">
            {rejected > 0 && (
              <li>
                <Link to="/invoices" search={{ status: 'Rechazado' }}>
                  {words('rejected', { count: rejected })}
                </Link>
              </li>
            )}
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}
