import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { useApiKeys, useCreateApiKey } from '../../../data/api-keys.js';
import type { Schemas } from '../../../data/gateway.js';
import { useAccount } from '../../../data/place.js';
import { Checks } from '../../../ui/checks.js';
import { Dialog, FormActions } from '../../../ui/dialog.js';
import { Fault } from '../../../ui/fault.js';
import { Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { Secret } from '../../../ui/secret.js';

/** Makes a key with no more rights than the key of the session, and shows it once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const words = useTranslations('settings.keys');
  const account = useAccount();
  const create = useCreateApiKey();
  if (create.data)
    return (
      <Secret
        title={words('made', { name: create.data.name })}
        hint={words('secretHint')}
        secret={create.data.key}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={words('create')} onClose={onClose}>
      <Loaded query={account}>{(own) => <Form own={own} create={create} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

interface FormProps {
  /** What the key of the session may do. */
  own: Schemas['OwnAccount'];
  create: ReturnType<typeof useCreateApiKey>;
  onClose: () => void;
}

function Form({ own, create, onClose }: FormProps) {
  const words = useTranslations();
  const { rnc: text } = useFormats();
  const [lacks, setLacks] = useState(false);
  const limits = useApiKeys().data?.find(({ id }) => id === own.key.id)?.taxpayers ?? [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const wanted = wantedKey(new FormData(event.currentTarget));
    const isComplete = wanted.environments.length > 0 && (wanted.scopes ?? []).length > 0;
    setLacks(!isComplete);
    if (isComplete) create.mutate(wanted);
  };
  return (
    <form onSubmit={submit}>
      <Field label={words('settings.keys.name')} hint={words('settings.keys.nameHint')}>
        {(ids) => <input {...ids} name="name" required maxLength={200} autoComplete="off" />}
      </Field>
      <Checks
        legend={words('settings.keys.environments')}
        name="environments"
        options={own.environments.map((env) => [env, env])}
        ticked={withinOneKey(own.environments)}
      />
      <Checks
        legend={words('settings.keys.rights')}
        name="scopes"
        options={own.scopes.map((scope) => [scope, words(`settings.keys.scopes.${scope}`)])}
        ticked={own.scopes.filter((scope) => scope !== 'manage')}
      />
      {own.taxpayers.length > 1 && (
        <Checks
          legend={words('settings.keys.taxpayers')}
          name="taxpayers"
          options={own.taxpayers.map(({ rnc, name }) => [rnc, `${name} · ${text(rnc)}`])}
          ticked={limits}
          hint={words('settings.keys.taxpayersHint')}
        />
      )}
      <Field label={words('settings.keys.lastDay')} hint={words('settings.keys.lastDayHint')}>
        {(ids) => <input {...ids} type="date" name="lastDay" required={own.key.expires_at !== null} />}
      </Field>
      <Checks
        legend={words('settings.keys.warnings')}
        name="refuse"
        options={[['true', words('settings.keys.refuseHint')]]}
        ticked={[]}
      />
      {lacks && (
        <p className="fault" role="alert">
          {words('settings.keys.lacks')}
        </p>
      )}
      <Fault error={create.error} />
      <FormActions act={words('settings.keys.create')} isBusy={create.isPending} onClose={onClose} />
    </form>
  );
}

/** A key serves either the sandbox environments or eCF. */
function withinOneKey(environments: Schemas['OwnAccount']['environments']) {
  const sandbox = environments.filter((env) => env !== 'eCF');
  return sandbox.length > 0 ? sandbox : environments;
}

/** The key that a form describes. Its last day ends at midnight in the Dominican Republic. */
function wantedKey(form: FormData): Schemas['NewApiKey'] {
  const all = <T extends string>(name: string) => form.getAll(name) as T[];
  const taxpayers = all('taxpayers');
  const lastDay = form.get('lastDay');
  return {
    name: String(form.get('name')),
    environments: all<Schemas['Environment']>('environments'),
    scopes: all<Schemas['ApiKey']['scopes'][number]>('scopes'),
    taxpayers: taxpayers.length === 0 ? null : taxpayers,
    expires_at: lastDay ? `${lastDay}T23:59:59-04:00` : null,
    refuse_warnings: form.has('refuse'),
  };
}
