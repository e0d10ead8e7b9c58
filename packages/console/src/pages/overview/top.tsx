import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useSums } from '../../data/invoices.js';
import { useProviders } from '../../data/overview.js';
import { dayBefore, monthAgo, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Table } from '../../ui/table.js';

interface Partner {
  readonly rnc: string | null;
  readonly name: ReactNode;
  readonly count: ReactNode;
  readonly amount: string;
}

/** The buyers with the highest sums of the last thirty days. */
export function TopBuyers() {
  const words = useTranslations('overview');
  const { number } = useFormats();
  const period = { from: monthAgo(), to: dayBefore(0) };
  const sums = useSums(period.from, period.to);
  const partners = (clients: NonNullable<typeof sums.data>['top_clients']): Partner[] =>
    clients.map(({ buyer_rnc: rnc, buyer_name, count, total_amount: amount }) => ({
      ...{ rnc, name: buyer_name ?? words('noBuyer'), amount },
      count:
        rnc === null ? (
          number(count)
        ) : (
          <Link to="/invoices" search={{ ...period, buyer: rnc }}>
            {number(count)}
          </Link>
        ),
    }));
  return (
    <Loaded query={sums}>
      {({ top_clients }) => <Partners title={words('topBuyers')} partners={partners(top_clients)} />}
    </Loaded>
  );
}

/** The providers with the highest sums of the last thirty days. */
export function TopProviders() {
  const words = useTranslations('overview');
  const { number } = useFormats();
  const period = { from: monthAgo(), to: dayBefore(0) };
  return (
    <Loaded query={useProviders()}>
      {({ top_providers }) => (
        <Partners
          title={words('topProviders')}
          partners={top_providers.map(({ provider_rnc: rnc, provider_name: name, count, total_amount: amount }) => ({
            ...{ rnc, name, amount },
            count: (
              <Link to="/received" search={{ ...period, provider: rnc }}>
                {number(count)}
              </Link>
            ),
          }))}
        />
      )}
    </Loaded>
  );
}

function Partners({ title, partners }: { title: string; partners: readonly Partner[] }) {
  const words = useTranslations('overview');
  const { money, rnc: rncOf } = useFormats();
  return (
    <section>
      <h2>{title}</h2>
      {partners.length === 0 ? (
        <p className="quiet">{words('noDocuments')}</p>
      ) : (
        <Table
          caption={title}
          rows={partners}
          rowKey={({ rnc }) => rnc ?? ''}
          columns={[
            {
              head: words('name'),
              cell: ({ name, rnc }) => (
                <>
                  <span dir="auto">{name}</span>
                  {rnc !== null && <small>{rncOf(rnc)}</small>}
                </>
              ),
            },
            { head: words('count'), cell: ({ count }) => count, amount: true },
            { head: words('amount'), cell: ({ amount }) => money(amount), amount: true },
          ]}
        />
      )}
    </section>
  );
}
