import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../../../data/gateway.js';
import { useAccount } from '../../../data/place.js';
import type { EventType, NewWebhook, Webhook } from '../../../data/webhooks.js';
import { Checks } from '../../../ui/checks.js';
import { Dialog, FormActions } from '../../../ui/dialog.js';
import { Fault } from '../../../ui/fault.js';
import { Field } from '../../../ui/field.js';
import { events } from '../../../words/es/events.js';

/** Every type of event, in the order of the words. */
const TYPES = Object.entries(events.type).flatMap(([subject, names]) =>
  Object.keys(names).map((name) => `${subject}.${name}` as EventType),
);

interface WebhookFormProps {
  /** The webhook that is changed, whose environments stay; null for a new one. */
  before: Webhook | null;
  saving: { isPending: boolean; error: Error | null };
  onSave: (wanted: NewWebhook) => void;
  onClose: () => void;
}

/** Asks for the address of a receiver and the events that it gets. */
export function WebhookForm({ before, saving, onSave, onClose }: WebhookFormProps) {
  const words = useTranslations();
  const environments = useAccount().data?.environments ?? [];
  const [chooses, setChooses] = useState(before !== null && before.types !== null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const types = form.getAll('types') as EventType[];
    onSave({
      url: String(form.get('url')).trim(),
      types: types.length === 0 ? null : types,
      environments: form.getAll('environments') as Schemas['Environment'][],
    });
  };
  return (
    <Dialog title={words(before === null ? 'settings.webhooks.create' : 'settings.webhooks.change')} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={words('settings.webhooks.url')} hint={words('settings.webhooks.urlHint')}>
          {(ids) => <input {...ids} type="url" name="url" defaultValue={before?.url} maxLength={2_000} required />}
        </Field>
        {before === null && (
          <Checks
            legend={words('settings.webhooks.environments')}
            name="environments"
            options={environments.map((env) => [env, env])}
            ticked={environments}
          />
        )}
        <label className="consent">
          <input type="checkbox" checked={!chooses} onChange={({ target }) => setChooses(!target.checked)} />
          {words('settings.webhooks.allTypes')}
        </label>
        {chooses && (
          <Checks
            legend={words('settings.webhooks.types')}
            name="types"
            options={TYPES.map((type) => [type, words(`events.type.${type}.title`)])}
            ticked={before?.types ?? []}
          />
        )}
        <Fault error={saving.error} />
        <FormActions act={words('settings.webhooks.save')} isBusy={saving.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
