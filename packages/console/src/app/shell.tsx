import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { type Place, PlaceContext, storedPlace, storePlace, useAccount } from '../data/place.js';
import type { Session } from '../data/session.js';
import { Choice } from '../ui/field.js';
import { Loaded } from '../ui/loaded.js';
import { Main } from './main.js';
import { useTitle } from './page-change.js';
import { PageLinks, pageAt } from './pages.js';
import { Person } from './person.js';
import { Side } from './side.js';
import { SignedIn } from './signed-in.js';
import { TaxpayerChoice } from './taxpayer-choice.js';

type Account = Schemas['OwnAccount'];

/** The frame of an account's pages: who is signed in, for which taxpayer, and the way to the other pages. */
export function Shell() {
  return <SignedIn kind="account">{(session) => <Frame session={session} />}</SignedIn>;
}

function Frame({ session }: { session: Session }) {
  return <Loaded query={useAccount()}>{(account) => <OfAccount account={account} session={session} />}</Loaded>;
}

function OfAccount({ account, session }: { account: Account; session: Session }) {
  const words = useTranslations();
  const { environments, scopes, taxpayers } = account;
  const [chosen, choose] = useState(storedPlace);
  const page = pageAt(useLocation().pathname);
  const { encf } = useParams({ strict: false });
  useTitle(encf, page && words(`nav.${page.name}`), account.account.name);
  const env = environments.find((one) => one === chosen.env) ?? environments[0];
  const rnc = (taxpayers.find((one) => one.rnc === chosen.rnc) ?? taxpayers[0])?.rnc;
  const place = env === undefined || rnc === undefined ? null : { env, rnc };
  const change = (changed: Partial<Place>) => {
    if (place === null) return;
    storePlace({ ...place, ...changed });
    choose({ ...place, ...changed });
  };
  return (
    <PlaceContext value={place}>
      <Side home="/" name={account.account.name} links={<PageLinks scopes={scopes} />}>
        {place !== null && (
          <div className="places">
            <TaxpayerChoice taxpayers={taxpayers} rnc={place.rnc} onChange={(rnc) => change({ rnc })} />
            <Choice
              label={words('place.env')}
              value={place.env}
              options={environments.map((one) => [one, words(`place.${one}`)])}
              onChange={(env) => change({ env: env as Place['env'] })}
            />
          </div>
        )}
        <Person session={session} />
      </Side>
      <Main>
        {place === null ? (
          <p className="problem">{words('place.none')}</p>
        ) : page?.isOpenTo(scopes) === false ? (
          <NotOffered name={words(`nav.${page.name}`)} />
        ) : (
          <Outlet />
        )}
      </Main>
    </PlaceContext>
  );
}

/** For a page that the scopes of the key do not include. */
function NotOffered({ name }: { name: string }) {
  const words = useTranslations('place');
  return (
    <div className="problem">
      <h1>{name}</h1>
      <p>{words('notOffered')}</p>
    </div>
  );
}
