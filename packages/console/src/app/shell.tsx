import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { type Place, PlaceContext, storedPlace, storePlace, useAccount } from '../data/place.js';
import { useSession, useSignOut } from '../data/session.js';
import { SignIn } from '../pages/sign-in/sign-in.js';
import { Choice } from '../ui/field.js';
import { Loaded } from '../ui/loaded.js';
import { useSwitchLanguage } from '../words/words.js';

type Scope = Schemas['OwnAccount']['scopes'][number];

/** The pages, each with the scopes of which one is enough to see it. */
const PAGES = [
  { to: '/', name: 'overview', scopes: ['read', 'submit', 'receive', 'approve', 'cancel', 'manage'] },
  { to: '/invoices', name: 'invoices', scopes: ['read', 'submit'] },
  { to: '/received', name: 'received', scopes: ['receive', 'read'] },
  { to: '/batches', name: 'batches', scopes: ['submit', 'read'] },
  { to: '/cancellations', name: 'cancellations', scopes: ['cancel', 'read'] },
  { to: '/deliveries', name: 'deliveries', scopes: ['read', 'submit'] },
  { to: '/contingency', name: 'contingency', scopes: ['read', 'submit'] },
  { to: '/events', name: 'events', scopes: ['read'] },
  { to: '/settings', name: 'settings', scopes: ['manage'] },
] as const satisfies readonly { to: string; name: string; scopes: readonly Scope[] }[];

/** The frame of every page: who is signed in, for which taxpayer, and the way to the other pages. */
export function Shell() {
  const session = useSession();
  // A session that ends shows the sign-in over the page, so that what was typed stays.
  const [wasSignedIn, setWasSignedIn] = useState(false);
  if (session.data && !wasSignedIn) setWasSignedIn(true);
  return (
    <Loaded query={session}>
      {(signedIn) => (
        <>
          {signedIn === null && <SignIn again={wasSignedIn} />}
          {(signedIn !== null || wasSignedIn) && (
            <div className="shell" inert={signedIn === null}>
              <Frame name={signedIn?.name ?? ''} />
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

function Frame({ name }: { name: string }) {
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
              <Person name={name} />
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

function Person({ name }: { name: string }) {
  const words = useTranslations();
  const signOut = useSignOut();
  const switchLanguage = useSwitchLanguage();
  return (
    <div className="person">
      <span>{name}</span>
      <button type="button" className="plain" onClick={switchLanguage}>
        {words('language')}
      </button>
      <button type="button" className="plain" onClick={() => signOut.mutate()}>
        {words('session.leave')}
      </button>
    </div>
  );
}
