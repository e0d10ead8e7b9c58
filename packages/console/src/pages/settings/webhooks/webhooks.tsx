import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useSettingsOwner } from '../../../data/settings-owner.js';
import { useCreateWebhook, useWebhooks, type Webhook } from '../../../data/webhooks.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { Secret } from '../../../ui/secret.js';
import { WebhookActs } from './webhook-acts.js';
import { WebhookForm } from './webhook-form.js';

/** The receivers of the account's events. */
export function WebhooksPart() {
  const words = useTranslations('settings.webhooks');
  const { mayChange } = useSettingsOwner();
  const webhooks = useWebhooks();
  const [creates, setCreates] = useState(false);
  return (
    <section>
      <header className="heading">
        <h2>{words('title')}</h2>
        {mayChange && (
          <button type="button" className="main" disabled={!webhooks.data} onClick={() => setCreates(true)}>
            {words('create')}
          </button>
        )}
      </header>
      <p className="quiet prose">{words('hint')}</p>
      {creates && <Create onClose={() => setCreates(false)} />}
      <Loaded query={webhooks}>
        {(all) =>
          all.length === 0 ? (
            <p className="prose">{words('none')}</p>
          ) : (
            all.map((webhook) => <Item key={webhook.id} webhook={webhook} />)
          )
        }
      </Loaded>
    </section>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const words = useTranslations('settings.webhooks');
  const create = useCreateWebhook();
  if (create.data)
    return <Secret title={words('made')} hint={words('secretHint')} secret={create.data.secret} onClose={onClose} />;
  return <WebhookForm before={null} saving={create} onSave={(wanted) => create.mutate(wanted)} onClose={onClose} />;
}

function Item({ webhook }: { webhook: Webhook }) {
  const words = useTranslations();
  const { mayChange } = useSettingsOwner();
  const { moment, number } = useFormats();
  const { environments, last_success_at, pending, dropped, types, url } = webhook;
  return (
    <article className="webhook">
      <h3 className="code">{url}</h3>
      <State webhook={webhook} />
      <dl className="pairs">
        <dt>{words('settings.webhooks.types')}</dt>
        <dd>
          {types === null
            ? words('settings.webhooks.allTypes')
            : types.map((type) => words(`events.type.${type}.title`)).join(', ')}
        </dd>
        <dt>{words('settings.webhooks.environments')}</dt>
        <dd>{environments.join(', ')}</dd>
        <dt>{words('settings.webhooks.lastSuccess')}</dt>
        <dd>{last_success_at === null ? words('settings.webhooks.noSuccess') : moment(last_success_at)}</dd>
        <dt>{words('settings.webhooks.pending')}</dt>
        <dd>{number(pending)}</dd>
        <dt>{words('settings.webhooks.dropped')}</dt>
        <dd>{number(dropped)}</dd>
      </dl>
      {mayChange && <WebhookActs webhook={webhook} />}
    </article>
  );
}

function State({ webhook: { active, failing_since, last_success_at } }: { webhook: Webhook }) {
  const words = useTranslations('settings.webhooks');
  const { moment } = useFormats();
  if (!active) return <p className="status wait">{words('inactive')}</p>;
  if (failing_since !== null) return <p className="status bad">{words('failing', { at: moment(failing_since) })}</p>;
  return (
    <p className={`status ${last_success_at === null ? 'wait' : 'good'}`}>
      {words(last_success_at === null ? 'waiting' : 'works')}
    </p>
  );
}
