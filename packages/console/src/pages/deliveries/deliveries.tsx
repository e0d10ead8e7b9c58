import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useInvoices } from '../../data/invoices.js';
import { FAILING } from '../../data/overview.js';
import { Choice, DayField } from '../../ui/field.js';
import { dayBefore, monthAgo } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { AcknowledgementOf } from './acknowledgement.js';
import { Rows } from './rows.js';

const route = getRouteApi('/deliveries');
const STATES = ['pending', 'no_receiver', 'refused', 'unacknowledged', 'failed'] as const;

/** Documents whose delivery to the buyer needs a person, or has not ended. */
export function Deliveries() {
  const words = useTranslations('deliveries');
  const list = useTranslations('invoices');
  const { cursor, ...search } = route.useSearch();
  const { state = FAILING, from = monthAgo(), to = dayBefore(0) } = search;
  const page = useInvoices({ delivery: state, from, to, ...(cursor && { cursor }) });
  const [shown, show] = useState<string | null>(null);
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {page.data && (
          <p className="quiet" role="status">
            {list('count', { count: page.data.total })}
          </p>
        )}
      </header>
      <Filters state={state} from={from} to={to} />
      <Loaded query={page}>
        {({ invoices, next_cursor: next }) => (
          <>
            {invoices.length === 0 ? (
              <p className="quiet">{words('empty')}</p>
            ) : (
              <Rows invoices={invoices} show={show} />
            )}
            <nav className="pages" aria-label={list('pages')}>
              {cursor !== undefined && (
                <Link to="/deliveries" search={search}>
                  {list('first')}
                </Link>
              )}
              {next !== null && (
                <Link to="/deliveries" search={{ ...search, cursor: next }}>
                  {list('next')}
                </Link>
              )}
            </nav>
          </>
        )}
      </Loaded>
      {shown !== null && <AcknowledgementOf encf={shown} close={() => show(null)} />}
    </>
  );
}

/** Each choice applies as soon as it is made. */
function Filters({ state, from, to }: { state: string; from: string; to: string }) {
  const words = useTranslations('deliveries');
  const list = useTranslations('invoices');
  const delivered = useTranslations('invoice.delivered');
  const navigate = useNavigate();
  const change = (changed: { state?: string; from?: string; to?: string }) =>
    navigate({ to: '/deliveries', search: { state, from, to, ...changed } });
  return (
    <search className="filters">
      <Choice
        label={words('state')}
        value={state}
        options={[
          [FAILING, words('failing')],
          ...STATES.map((one) => [one, delivered(one)] as const),
          [`pending,${FAILING}`, words('all')],
        ]}
        onChange={(state) => change({ state })}
      />
      <DayField label={list('from')} value={from} onChange={(from) => change({ from })} />
      <DayField label={list('to')} value={to} onChange={(to) => change({ to })} />
    </search>
  );
}
