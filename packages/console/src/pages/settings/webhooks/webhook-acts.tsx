import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useChangeWebhook, useTestWebhook, type Webhook } from '../../../data/webhooks.js';
import { Fault } from '../../../ui/fault.js';
import { useFormats } from '../../../ui/format.js';
import { Deactivate, Delete, Replay, Rotate } from './webhook-dialogs.js';
import { WebhookForm } from './webhook-form.js';

const DIALOGS = { change: Change, deactivate: Deactivate, rotate: Rotate, replay: Replay, remove: Delete };
type Act = keyof typeof DIALOGS;

/** What can be done with a webhook. */
export function WebhookActs({ webhook }: { webhook: Webhook }) {
  const words = useTranslations('settings.webhooks');
  const [act, setAct] = useState<Act | null>(null);
  const { mutate: activate, error } = useChangeWebhook(webhook.id);
  const Open = act === null ? null : DIALOGS[act];
  const opens = (name: Act) => (
    <button type="button" className="plain" onClick={() => setAct(name)}>
      {words(name)}
    </button>
  );
  return (
    <>
      <div className="actions">
        <Test webhook={webhook} />
        {opens('change')}
        {webhook.active ? (
          opens('deactivate')
        ) : (
          <button type="button" className="plain" onClick={() => activate({ active: true })}>
            {words('activate')}
          </button>
        )}
        {opens('replay')}
        {opens('rotate')}
        {opens('remove')}
      </div>
      <Fault error={error} />
      {Open !== null && <Open webhook={webhook} onClose={() => setAct(null)} />}
    </>
  );
}

function Change({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const change = useChangeWebhook(webhook.id);
  return (
    <WebhookForm
      before={webhook}
      saving={change}
      onSave={({ url, types }) => change.mutate({ url, types }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Calls the receiver once and shows its answer. */
function Test({ webhook }: { webhook: Webhook }) {
  const words = useTranslations('settings.webhooks');
  const { number } = useFormats();
  const test = useTestWebhook(webhook.id);
  const { status = null, duration_ms = 0, error } = test.data ?? {};
  const succeeded = status !== null && status >= 200 && status < 300;
  return (
    <>
      <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
        {words('test')}
      </button>
      <p className={succeeded ? 'good' : 'bad'} role="status">
        {test.data &&
          (status === null
            ? words('noAnswer', { error: error ?? '' })
            : words('answered', { status, duration: number(duration_ms) }))}
      </p>
      <Fault error={test.error} />
    </>
  );
}
