import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { changeAccount, findAccount } from '../../../data/admin/accounts.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { Loaded } from '../../../ui/loaded.js';
import { KeysPart } from '../../settings/keys/keys.js';
import { WebhooksPart } from '../../settings/webhooks/webhooks.js';
import { Active, Switch } from '../active.js';
import { SettingsOf } from './settings-of.js';
import { Taxpayers } from './taxpayers.js';

const route = getRouteApi('/admin/accounts/$id');

/** An account: whether it is active, its taxpayers, and its settings. */
export function AccountPage() {
  const words = useTranslations('admin.account');
  const accounts = useTranslations('admin.accounts');
  const { id } = route.useParams();
  const account = useAdmin(['account', id], () => findAccount(id));
  return (
    <>
      <Link to="/admin/accounts">{accounts('title')}</Link>
      <Loaded query={account}>
        {({ name, active }) => (
          <>
            <header className="heading">
              <div>
                <h1 dir="auto">{name}</h1>
                <p className="quiet">
                  <Active active={active} /> <span className="code">{id}</span>
                </p>
              </div>
              <Switch
                active={active}
                effect={words(active ? 'turnOffEffect' : 'turnOnEffect')}
                change={(to) => changeAccount(id, to)}
              />
            </header>
            <Taxpayers account={id} />
            <SettingsOf account={id}>
              <KeysPart />
              <WebhooksPart />
            </SettingsOf>
          </>
        )}
      </Loaded>
    </>
  );
}
