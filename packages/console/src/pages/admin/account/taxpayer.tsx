import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { findAccount, findTaxpayer, type Taxpayer } from '../../../data/admin/accounts.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { type Place, PlaceContext } from '../../../data/place.js';
import { useSettingsOwner } from '../../../data/settings-owner.js';
import { Choice } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { CertificatePart } from '../../settings/certificate.js';
import { LogoPart } from '../../settings/logo.js';
import { RangesPart } from '../../settings/ranges/ranges.js';
import { RunsPart } from '../../settings/runs.js';
import { Active } from '../active.js';
import { SettingsOf } from './settings-of.js';

const route = getRouteApi('/admin/accounts/$id/$rnc');
const ENVIRONMENTS: readonly Place['env'][] = ['TesteCF', 'CerteCF', 'eCF'];

/** A taxpayer of an account, with its certificate, ranges, logo and certification runs. */
export function TaxpayerPage() {
  const { id, rnc } = route.useParams();
  const account = useAdmin(['account', id], () => findAccount(id));
  const taxpayer = useAdmin(['taxpayer', id, rnc], () => findTaxpayer(id, rnc));
  return (
    <>
      <Link to="/admin/accounts/$id" params={{ id }}>
        <bdi>{account.data?.name ?? id}</bdi>
      </Link>
      <Loaded query={taxpayer}>
        {(found) => (
          <SettingsOf account={id}>
            <Parts taxpayer={found} />
          </SettingsOf>
        )}
      </Loaded>
    </>
  );
}

function Parts({ taxpayer: { rnc, name, active } }: { taxpayer: Taxpayer }) {
  const words = useTranslations('place');
  const formats = useFormats();
  const [env, setEnv] = useState<Place['env']>('TesteCF');
  const { mayChange } = useSettingsOwner();
  return (
    <PlaceContext value={{ env, rnc }}>
      <header className="heading">
        <div>
          <h1 dir="auto">{name}</h1>
          <p className="quiet">
            <Active active={active} /> {formats.rnc(rnc)}
          </p>
        </div>
        <Choice
          label={words('env')}
          value={env}
          options={ENVIRONMENTS.map((one) => [one, words(one)])}
          onChange={(one) => setEnv(one as Place['env'])}
        />
      </header>
      <CertificatePart />
      <RangesPart />
      <LogoPart />
      {mayChange && <RunsPart />}
    </PlaceContext>
  );
}
