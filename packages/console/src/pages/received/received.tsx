import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useDecisions } from '../../data/decisions.js';
import { useReceived } from '../../data/received.js';
import { Loaded } from '../../ui/loaded.js';
import { type Asked, Decide } from './decide.js';
import { Filters } from './filters.js';
import { Inbox } from './inbox.js';
import { OpenDecisions } from './open-decisions.js';
import './received.css';
import { Results } from './results.js';

const route = getRouteApi('/received');

/** Documents of providers, by filters that stand in the address, with the decisions that the buyer owes. */
export function Received() {
  const words = useTranslations('received');
  const list = useTranslations('invoices');
  const filters = route.useSearch();
  const page = useReceived(filters);
  const acts = useDecisions();
  const [asked, ask] = useState<Asked | null>(null);
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {page.data && <p className="quiet">{list('count', { count: page.data.total })}</p>}
      </header>
      <OpenDecisions />
      <Filters filters={filters} />
      <Results acts={acts} />
      <Loaded query={page}>
        {({ invoices, next_cursor: next }) => (
          <>
            {invoices.length === 0 ? (
              <p className="quiet">{words('empty')}</p>
            ) : (
              <Inbox invoices={invoices} busy={acts.busy} ask={ask} />
            )}
            <nav className="pages" aria-label={words('title')}>
              {filters.cursor !== undefined && (
                <Link to="/received" search={{ ...filters, cursor: undefined }}>
                  {list('first')}
                </Link>
              )}
              {next !== null && (
                <Link to="/received" search={{ ...filters, cursor: next }}>
                  {list('next')}
                </Link>
              )}
            </nav>
          </>
        )}
      </Loaded>
      <Decide asked={asked} onClose={() => ask(null)} decide={acts.decide} />
    </>
  );
}
