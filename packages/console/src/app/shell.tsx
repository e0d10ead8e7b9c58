import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { type Place, PlaceContext, storedPlace, storePlace, useAccount } from '../data/place.js';
import type { Session } from '../data/session.js';
import { Choice } from '../ui/field.js';
import { Loaded } from '../ui/loaded.js';
import { Person } from './person.js';
import { SignedIn } from './signed-in.js';

type Scope = Schemas['OwnAccount']['scopes'][number];

/** The pages, each with the scopes of which one is enough to see it. */
const PAGES = [
  { to: '/', name: 'overview', scopes: ['read', 'submit', 'receive', 'approve', 'cancel', 'manage'] },
  { to: '/invoices', name: 'invoices', scopes: ['read', 'submit'] },
  { to: '/received', name: 'received', scopes: ['receive'] },
  { to: '/batches', name: 'batches', scopes: ['submit', 'read'] },
  { to: '/cancellations', name: 'cancellations', scopes: ['cancel', 'read'] },
  { to: '/deliveries', name: 'deliveries', scopes: ['read', 'submit'] },
  { to: '/contingency', name: 'contingency', scopes: ['read', 'submit'] },
  { to: '/events', name: 'events', scopes: ['read'] },
  { to: '/settings', name: 'settings', scopes: ['manage'] },
] as const satisfies readonly { to: string; name: string; scopes: readonly Scope[] }[];

/** The frame of an account's pages: who is signed in, for which taxpayer, and the way to the other pages. */
export function Shell() {
  return <SignedIn kind="account">{(session) => <Frame session={session} />}</SignedIn>;
}

function Frame({ session }: { session: Session }) {
  const words = useTranslations();
  const account = useAccount();
  const [chosen, choose] = useState(storedPlace);
  return (
    <Loaded query={account}>
      {({ account: { name: accountName }, environments, scopes, taxpayers }) => {
        const rncs = taxpayers.map(({ rnc }) => rnc);
        const env = environments.find((one) => one === chosen.env) ?? environments[0];
        const rnc = rncs.find((one) => one === chosen.rnc) ?? rncs[0];
        if (env === undefined || rnc === undefined) return <p className="problem">{words('place.none')}</p>;
        const place: Place = { env, rnc };
        const change = (changed: Partial<Place>) => {
          storePlace({ ...place, ...changed });
          choose({ ...place, ...changed });
        };
        return (
          <PlaceContext value={place}>
            <header className="side">
              <Link to="/" className="brand">
                <img src="/console/icon.svg" alt="" width="24" height="24" />
                <span>{accountName}</span>
              </Link>
              <nav aria-label={words('nav.main')}>
                {PAGES.filter(({ scopes: needed }) => needed.some((scope) => scopes.includes(scope))).map(
                  ({ to, name }) => (
                    <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
                      {words(`nav.${name}`)}
                    </Link>
                  ),
                )}
              </nav>
              <div className="places">
                <Choice
                  label={words('place.taxpayer')}
                  value={rnc}
                  options={taxpayers.map((one) => [one.rnc, one.name])}
                  onChange={(rnc) => change({ rnc })}
                />
                <Choice
                  label={words('place.env')}
                  value={env}
                  options={environments.map((one) => [one, one])}
                  onChange={(env) => change({ env: env as Place['env'] })}
                />
              </div>
              <Person session={session} />
            </header>
            <main id="page">
              <Outlet />
            </main>
          </PlaceContext>
        );
      }}
    </Loaded>
  );
}
