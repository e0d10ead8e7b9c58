import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../data/gateway.js';
import { useInvoices, useSums } from '../../data/invoices.js';
import { FAILING } from '../../data/overview.js';
import { useAccount, usePlace } from '../../data/place.js';
import { dayBefore, monthAgo, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';

const SOON_MS = 30 * 86_400_000;
const FEW_NUMBERS = 1_000;

/** Rejected documents, deliveries that fail, certificates and ranges that end. */
export function Attention({ seesIssued }: { seesIssued: boolean }) {
  const words = useTranslations('overview');
  const { rnc } = usePlace();
  return (
    <section>
      <h2>{words('attention')}</h2>
      {seesIssued && <Issued />}
      <Loaded query={useAccount()}>
        {({ taxpayers }) => <Endings taxpayer={taxpayers.find((one) => one.rnc === rnc)} />}
      </Loaded>
    </section>
  );
}

function Issued() {
  const words = useTranslations('overview');
  const period = { from: monthAgo(), to: dayBefore(0) };
  const sums = useSums(period.from, period.to);
  const deliveries = useInvoices({ ...period, delivery: FAILING });
  const rejected = sums.data?.by_status.find(({ status }) => status === 'Rechazado')?.count ?? 0;
  const failing = deliveries.data?.total ?? 0;
  return (
    <Lines
      lines={[
        rejected > 0 && (
          <Link to="/invoices" search={{ ...period, status: 'Rechazado' }}>
            {words('rejected', { count: rejected })}
          </Link>
        ),
        failing > 0 && <Link to="/deliveries">{words('failing', { count: failing })}</Link>,
      ]}
      none={words('noneIssued')}
    />
  );
}

/** What ends soon. Settings shows more, to keys that may see it. */
function Endings({ taxpayer }: { taxpayer: Schemas['OwnAccount']['taxpayers'][number] | undefined }) {
  const words = useTranslations('overview');
  const { day, number } = useFormats();
  const { env } = usePlace();
  if (taxpayer === undefined) return null;
  const { name, certificate_not_after: end } = taxpayer;
  const endsSoon = (time: string | null) => time !== null && Date.parse(time) - Date.now() < SOON_MS;
  const ranges = taxpayer.ranges.filter((range) => range.env === env);
  const lines = [
    end === null && words('certificateMissing', { name }),
    end !== null && endsSoon(end) && words('certificateEnds', { name, day: day(end) }),
    ...ranges.map(
      ({ ecf_type: type, remaining }) =>
        remaining !== null && remaining < FEW_NUMBERS && words('rangeLow', { type, remaining: number(remaining) }),
    ),
    ...ranges.map(
      ({ ecf_type: type, expires }) =>
        expires !== null && endsSoon(expires) && words('rangeEnds', { type, day: day(expires) }),
    ),
  ];
  return <Lines lines={lines} none={words('noneEnding')} />;
}

function Lines({ lines, none }: { lines: readonly ReactNode[]; none: string }) {
  const given = lines.filter((line) => line !== false);
  if (given.length === 0) return <p className="quiet">{none}</p>;
  return (
    <ul className="attention">
      {given.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines keep no state
        <li key={index}>{line}</li>
      ))}
    </ul>
  );
}
