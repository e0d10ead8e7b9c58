import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type ApiKey, isUsable, useApiKeys } from '../../../data/api-keys.js';
import { useAccount } from '../../../data/place.js';
import { useSettingsOwner } from '../../../data/settings-owner.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { KeyActs, RefuseWarnings } from './key-acts.js';
import { NewKey } from './new-key.js';

/** The API keys of the account, as far as the key of the session sees them. */
export function KeysPart() {
  const words = useTranslations('settings.keys');
  const keys = useApiKeys();
  const { mayChangeKeys } = useSettingsOwner();
  const [creates, setCreates] = useState(false);
  const [showsEnded, setShowsEnded] = useState(false);
  return (
    <section>
      <header className="heading">
        <h2>{words('title')}</h2>
        {mayChangeKeys && (
          <button type="button" className="main" onClick={() => setCreates(true)}>
            {words('create')}
          </button>
        )}
      </header>
      <p className="quiet prose">{words('hint')}</p>
      {creates && <NewKey onClose={() => setCreates(false)} />}
      <Loaded query={keys}>
        {(all) => (
          <>
            <Rows keys={showsEnded ? all : all.filter(isUsable)} />
            {all.some((key) => !isUsable(key)) && (
              <button type="button" className="plain" onClick={() => setShowsEnded(!showsEnded)}>
                {words(showsEnded ? 'hideEnded' : 'showEnded')}
              </button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Rows({ keys }: { keys: readonly ApiKey[] }) {
  const words = useTranslations('settings.keys');
  const general = useTranslations();
  const { moment } = useFormats();
  const own = useAccount().data?.key.id;
  const { mayChangeKeys } = useSettingsOwner();
  const columns: Column<ApiKey>[] = [
    {
      head: words('name'),
      cell: ({ id, name, hint }) => (
        <>
          <span dir="auto">{name}</span>
          <small className="code">{hint}</small>
          {id === own && <small>{words('own')}</small>}
        </>
      ),
    },
    { head: words('rights'), cell: (key) => <Rights apiKey={key} /> },
    {
      head: words('used'),
      cell: ({ last_used_at }) => (last_used_at === null ? words('unused') : moment(last_used_at)),
    },
    { head: words('ends'), cell: (key) => <End apiKey={key} /> },
    {
      head: general('settings.acts'),
      cell: (key) => (mayChangeKeys && isUsable(key) ? <KeyActs apiKey={key} isOwn={key.id === own} /> : null),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={keys} rowKey={({ id }) => id} />;
}

function Rights({ apiKey }: { apiKey: ApiKey }) {
  const words = useTranslations('settings.keys');
  const { rnc } = useFormats();
  const { mayChangeKeys } = useSettingsOwner();
  const { environments, scopes, taxpayers } = apiKey;
  return (
    <>
      {scopes.map((scope) => words(`scopes.${scope}`)).join(', ')}
      <small>{environments.join(', ')}</small>
      <small>{taxpayers === null ? words('allTaxpayers') : taxpayers.map(rnc).join(', ')}</small>
      {mayChangeKeys && isUsable(apiKey) && <RefuseWarnings apiKey={apiKey} />}
    </>
  );
}

function End({ apiKey }: { apiKey: ApiKey }) {
  const words = useTranslations('settings.keys');
  const { moment } = useFormats();
  const { revoked_at, expires_at } = apiKey;
  if (revoked_at !== null) return <span className="status bad">{words('revoked', { at: moment(revoked_at) })}</span>;
  if (expires_at === null) return words('never');
  return isUsable(apiKey) ? (
    moment(expires_at)
  ) : (
    <span className="status bad">{words('expired', { at: moment(expires_at) })}</span>
  );
}
